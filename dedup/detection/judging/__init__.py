"""The verdicts on pairs, from plain rows: of articles, of what recurs in their newspapers, of editors' rules. Pure."""
