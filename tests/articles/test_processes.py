"""Tasks in several processes: the same results with any number of them, and no process left behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator

import pytest

from articles.processes import WorkerDiedError, Workers


def double(number: int, on_progress: Callable[[int], None]) -> int:
    """A task: report the number, and return its double. Negative numbers fail."""
    on_progress(number)
    if number < 0:
        raise ValueError(f"{number} is below nought")
    return 2 * number


def end_this_process(_task: object, _on_progress: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_every_task_is_done_once_and_reports_its_progress(count: int) -> None:
    said: list[tuple[int, int]] = []
    with Workers(count, double) as processes:
        done = sorted(processes.results([5, 1, 4, 2], lambda task, number: said.append((task, number))))
        assert list(processes.results([])) == []
    assert done == [(0, 10), (1, 2), (2, 8), (3, 4)]
    assert sorted(said) == [(1, 1), (2, 2), (4, 4), (5, 5)]
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("count", [1, 2])
def test_results_come_in_the_order_of_the_tasks_batch_by_batch(count: int) -> None:
    with Workers(count, double) as processes:
        assert [processes.in_order(batch) for batch in ([3], [5, 1, 4], [2, 7])] == [[6], [10, 2, 8], [4, 14]]
        assert len(multiprocessing.active_children()) == (0 if count == 1 else count)
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("count", [1, 2])
def test_a_stream_keeps_the_order_and_takes_tasks_only_as_they_are_needed(count: int) -> None:
    taken: list[int] = []

    def tasks() -> Iterator[int]:
        for number in (5, 1, 4, 2, 7, 3, 6):
            taken.append(number)
            yield number

    with Workers(count, double) as processes:
        stream = processes.stream(tasks())
        assert next(stream) == (5, 10)
        assert len(taken) == (1 if count == 1 else 4)
        assert list(stream) == [(1, 2), (4, 8), (2, 4), (7, 14), (3, 6), (6, 12)]
        stream = processes.stream([1, 2, 3, 4, 5, 6])
        assert next(stream) == (1, 2)
        stream.close()
        with pytest.raises(ValueError, match="-3 is below nought"):
            list(processes.stream([1, 2, -3, 4]))
        assert list(processes.stream([8])) == [(8, 16)]
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("count", [1, 2])
def test_an_exception_of_a_task_is_raised_in_the_parent(count: int) -> None:
    with pytest.raises(ValueError, match="-3 is below nought") as raised, Workers(count, double) as processes:
        processes.in_order([1, -3, 2])
    if count > 1:
        assert "in double" in "".join(raised.value.__notes__)
    assert multiprocessing.active_children() == []


def test_a_killed_worker_is_reported_with_the_remedy() -> None:
    with pytest.raises(WorkerDiedError, match="--workers 1"), Workers(2, end_this_process) as processes:
        processes.in_order([1, 2])
    assert multiprocessing.active_children() == []


def test_a_worker_that_is_killed_between_two_batches_is_reported_too() -> None:
    with Workers(2, double) as processes:
        processes.in_order([1, 2])
        for child in multiprocessing.active_children():
            child.kill()
            child.join()
        with pytest.raises(WorkerDiedError, match="--workers 1"):
            processes.in_order([3, 4])
        with pytest.raises(WorkerDiedError, match="--workers 1"):
            list(processes.stream([3, 4, 5, 6]))
