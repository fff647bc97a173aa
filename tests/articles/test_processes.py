"""Tasks in several processes: the same results with any number of them, and no process left behind."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator

import pytest

from articles.processes import Pool, WorkerDiedError, Workers


def double(number: int, on_progress: Callable[[int], None]) -> int:
    """A task: report the number, and return its double. Negative numbers fail."""
    on_progress(number)
    if number < 0:
        raise ValueError(f"{number} is below nought")
    return 2 * number


def end_this_process(_task: object, _on_progress: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def triple(number: int, _on_progress: object) -> tuple[int, int]:
    """A task of another kind: return the triple of a number, and the process that does it."""
    return 3 * number, os.getpid()


def maybe_killed(number: int, on_progress: object) -> tuple[int, int]:
    """A task that a negative number ends with its process."""
    if number < 0:
        end_this_process(number, on_progress)
    return triple(number, on_progress)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_every_task_is_done_once_and_reports_its_progress(count: int) -> None:
    said: list[tuple[int, int]] = []
    with Pool(count) as pool:
        done = sorted(pool.results([5, 1, 4, 2], double, on_progress=lambda task, number: said.append((task, number))))
        assert list(pool.results([], double)) == []
    assert done == [(0, 10), (1, 2), (2, 8), (3, 4)]
    assert sorted(said) == [(1, 1), (2, 2), (4, 4), (5, 5)]
    assert multiprocessing.active_children() == []


def test_a_pool_starts_processes_only_for_many_tasks_and_keeps_them_for_tasks_of_any_kind() -> None:
    with Pool(2) as pool:
        assert list(pool.results([4], double)) == [(0, 8)]
        assert list(pool.results([4, 5], double, at_most=1)) == [(0, 8), (1, 10)]
        assert multiprocessing.active_children() == []
        assert sorted(pool.results([4, 5], double)) == [(0, 8), (1, 10)]
        children = {child.pid for child in multiprocessing.active_children()}
        assert len(children) == 2
        # Those that run already help with the smallest job.
        found = dict(pool.results([1, 2, 3], triple, at_most=1))
        assert [found[place][0] for place in range(3)] == [3, 6, 9]
        assert {process for _, process in found.values()} <= children
        assert [result[0] for _, result in pool.stream([7], triple, at_most=1)] == [21]
        assert {child.pid for child in multiprocessing.active_children()} == children
    assert multiprocessing.active_children() == []


def test_tasks_are_handed_over_without_waiting_and_a_killed_process_is_replaced() -> None:
    with Workers(2, maybe_killed) as workers:
        first = workers.submit(4).result()
        assert first[0] == 12
        assert workers.submit(5).result() == (15, first[1]), "a process that runs is taken before one that does not"
        with pytest.raises(WorkerDiedError):
            workers.submit(-1).result()
        again = workers.submit(6).result()
        assert (again[0], again[1] != first[1]) == (18, True)
        assert len(multiprocessing.active_children()) == 1
    assert multiprocessing.active_children() == []
    with Workers(1, maybe_killed) as workers:
        assert workers.submit(4).result() == (12, os.getpid())


def test_results_that_are_left_early_leave_no_process_at_work() -> None:
    with Pool(2) as pool:
        for _, result in pool.results([1, 2, 3], double):
            assert result in (2, 4)
            break
        assert len(multiprocessing.active_children()) < 2
        with pytest.raises(ValueError, match="-3 is below nought"):
            list(pool.results([-3, 1], double))
        assert sorted(pool.results([4, 5], double)) == [(0, 8), (1, 10)]
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("count", [1, 2])
def test_a_stream_keeps_the_order_and_takes_tasks_only_as_they_are_needed(count: int) -> None:
    taken: list[int] = []

    def tasks() -> Iterator[int]:
        for number in (5, 1, 4, 2, 7, 3, 6):
            taken.append(number)
            yield number

    with Pool(count) as pool:
        stream = pool.stream(tasks(), double)
        assert next(stream) == (5, 10)
        assert len(taken) == (1 if count == 1 else 4)
        assert list(stream) == [(1, 2), (4, 8), (2, 4), (7, 14), (3, 6), (6, 12)]
        stream = pool.stream([1, 2, 3, 4, 5, 6], double)
        assert next(stream) == (1, 2)
        stream.close()
        with pytest.raises(ValueError, match="-3 is below nought"):
            list(pool.stream([1, 2, -3, 4], double))
        assert list(pool.stream([8], double)) == [(8, 16)]
        assert list(pool.stream([3, 1], double, few=2)) == [(3, 6), (1, 2)]
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("count", [1, 2])
def test_an_exception_of_a_task_is_raised_in_the_parent(count: int) -> None:
    with pytest.raises(ValueError, match="-3 is below nought") as raised, Pool(count) as pool:
        list(pool.results([1, -3, 2], double))
    if count > 1:
        assert "in double" in "".join(raised.value.__notes__)
    assert multiprocessing.active_children() == []


def test_a_worker_that_is_killed_at_a_task_or_between_two_is_reported_with_the_remedy() -> None:
    with pytest.raises(WorkerDiedError, match="--workers 1"), Pool(2) as pool:
        list(pool.results([1, 2], end_this_process))
    assert multiprocessing.active_children() == []
    with Pool(2) as pool:
        list(pool.results([1, 2], double))
        for child in multiprocessing.active_children():
            child.kill()
            child.join()
        with pytest.raises(WorkerDiedError, match="--workers 1"):
            list(pool.results([3, 4], double))
        with pytest.raises(WorkerDiedError, match="--workers 1"):
            list(pool.stream([3, 4, 5, 6], double))
