"""The faults that are put into the code: those of mutmut, and those that matter where transactions and SQL are.

mutmut (https://github.com/boxed/mutmut) changes operators, numbers, strings, arguments and assignments. Here come:
statements and raises left out, conditions turned round, results left out, `with` blocks without their lock or
transaction, functions without a decorator, and the conditions inside SQL.
"""

import re
from collections.abc import Iterator
from typing import Any

import libcst as cst
from mutmut.mutation.file_mutation import MutationVisitor
from mutmut.mutation.mutators import mutation_operators, operator_string
from mutmut.mutation.pragma_handling import IgnoredCode

# Each turns one place of a statement into another that is a statement too.
_SQL = (
    (r"\bAND\b", "OR"),
    (r"\bOR\b", "AND"),
    (r"\bIS NULL\b", "IS NOT NULL"),
    (r"\bIS NOT NULL\b", "IS NULL"),
    (r"\bIS NOT DISTINCT FROM\b", "IS DISTINCT FROM"),
    (r"\bIS DISTINCT FROM\b", "IS NOT DISTINCT FROM"),
    (r"\bNOT EXISTS\b", "EXISTS"),
    (r"(?<!NOT )\bEXISTS\b", "NOT EXISTS"),
    (r"\bWHERE NOT\b", "WHERE"),
    (r"\bAND NOT\b", "AND"),
    (r"\bNOT IN\b", "IN"),
    (r"\bLEFT JOIN\b", "JOIN"),
    (r"<=", "<"),
    (r">=", ">"),
    (r"(?<![<-])>(?!=)", ">="),
    (r"<(?![=>])", "<="),
    (r"<>", "="),
    (r"\bmin\(", "max("),
    (r"\bmax\(", "min("),
    (r"\bleast\(", "greatest("),
    (r"\bgreatest\(", "least("),
    (r"\bcount\(\*\)", "1 + count(*)"),
    (r"\btrue\b", "false"),
    (r"\bfalse\b", "true"),
    (r"\bDISTINCT \b", ""),
    (r"\bDESC\b", "ASC"),
    (r" (?:FOR UPDATE|SKIP LOCKED)\b[^\n]*", ""),
)
_IS_SQL = re.compile(r"\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|WHERE|JOIN|CASE WHEN|coalesce\()")
# Without these, a function is not what its callers take it for, and every test that uses it fails.
_SHAPES = {"property", "staticmethod", "classmethod", "contextmanager", "dataclass", "cached_property", "overload"}


def _sql(node: cst.SimpleString) -> Iterator[cst.SimpleString]:
    if not _IS_SQL.search(node.value):
        return
    for pattern, other in _SQL:
        for found in re.finditer(pattern, node.value):
            line = node.value[node.value.rfind("\n", 0, found.start()) + 1 : found.start()]
            if "--" not in line:  # a comment
                yield node.with_changes(value=node.value[: found.start()] + other + node.value[found.end() :])


def _left_out(node: cst.SimpleStatementLine) -> Iterator[cst.CSTNode]:
    [statement, *more] = node.body
    if not more and (
        isinstance(statement, cst.Raise) or (isinstance(statement, cst.Expr) and isinstance(statement.value, cst.Call))
    ):
        yield node.with_changes(body=[cst.Pass()])


def _without_context(node: cst.With) -> Iterator[cst.CSTNode]:
    for item in node.items:
        if item.asname is not None:
            continue
        others = [other.with_changes(comma=cst.MaybeSentinel.DEFAULT) for other in node.items if other is not item]
        if others:
            yield node.with_changes(items=others)
        else:
            yield cst.If(test=cst.Name("True"), body=node.body, leading_lines=node.leading_lines)


def _without_result(node: cst.Return) -> Iterator[cst.CSTNode]:
    if node.value is not None and not (isinstance(node.value, cst.Name) and node.value.value == "None"):
        yield node.with_changes(value=cst.Name("None"), whitespace_after_return=cst.SimpleWhitespace(" "))


def _without_decorator(node: cst.FunctionDef) -> Iterator[cst.CSTNode]:
    for decorator in node.decorators:
        name = decorator.decorator.func if isinstance(decorator.decorator, cst.Call) else decorator.decorator
        called = name.attr.value if isinstance(name, cst.Attribute) else getattr(name, "value", "")
        if called not in _SHAPES:
            yield node.with_changes(decorators=[other for other in node.decorators if other is not decorator])


def _denied(test: cst.BaseExpression) -> cst.BaseExpression:
    inner = test.with_changes(lpar=[cst.LeftParen(), *test.lpar], rpar=[*test.rpar, cst.RightParen()])
    return cst.UnaryOperation(operator=cst.Not(), expression=inner)


OPERATORS = (
    *((kind, operator) for kind, operator in mutation_operators if operator is not operator_string),
    # Changed in one way, not in three: what notices one of them notices the others.
    (cst.BaseString, lambda node: list(operator_string(node))[:1]),
    (cst.SimpleString, _sql),
    (cst.SimpleStatementLine, _left_out),
    (cst.With, _without_context),
    (cst.If, lambda node: [node.with_changes(test=_denied(node.test))]),
    (cst.CompIf, lambda node: [node.with_changes(test=cst.Name("True"))]),
    (cst.Return, _without_result),
    (cst.FunctionDef, _without_decorator),
)


class FaultVisitor(MutationVisitor):
    """Collects the faults of a module, also outside functions, with the line of each.

    What nothing can notice is passed over: docstrings, annotations, types, `__all__`, imports, and what is only logged.
    """

    def __init__(self) -> None:
        super().__init__(
            OPERATORS, IgnoredCode(no_mutate_lines=set(), ignore_node_lines=set(), ignore_pattern_lines=set())
        )

    def _skip_node_and_children(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.FunctionDef) and node.decorators:
            return False
        return _is_inert(node) or super()._skip_node_and_children(node)


def _is_inert(node: Any) -> bool:
    match node:
        case (
            cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString())
            | cst.Import()
            | cst.ImportFrom()
            | cst.If(test=cst.Name(value="TYPE_CHECKING"))
            | cst.Call(func=cst.Attribute(value=cst.Name(value="log")) | cst.Name(value="cast"))
            | cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call(func=cst.Attribute(value=cst.Name(value="log"))))])
            | cst.AnnAssign(annotation=cst.Annotation(annotation=cst.Name(value="TypeAlias")))
            | cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value="__all__" | "log"))])
        ):
            return True
    return False
