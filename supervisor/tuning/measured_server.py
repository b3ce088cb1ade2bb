"""A server that is measured: `python -m supervisor.tuning.measured_server LIFELINE serve …`.

It ends when the write end of LIFELINE (`shm.lifeline`) does, and its own processes with it. Every one of them imports
this file again, so it imports nothing.
"""

from __future__ import annotations


def main() -> None:
    """`LIFELINE`: the descriptor of a pipe that whoever measures holds; the rest are `kokoro-live`'s arguments."""
    import sys

    from shm.lifeline import die_with_supervisor
    from supervisor.cli import kokoro_live

    die_with_supervisor(int(sys.argv[1]))
    kokoro_live(sys.argv[2:], prog_name="kokoro-live")


if __name__ == "__main__":
    main()
