"""Names of Linux that Python's modules don't have on macOS."""

import importlib
from typing import Any

LACKING = {
    "select": "epoll EPOLL* POLLRDHUP POLLMSG",
    "os": (
        "EFD_* MFD_* GRND_* RWF_* SPLICE_* PIDFD_* SCHED_RR SCHED_FIFO SCHED_BATCH SCHED_IDLE SCHED_OTHER "
        "SCHED_RESET_ON_FORK POSIX_FADV_* XATTR_* O_TMPFILE O_PATH O_DIRECT O_NOATIME O_RSYNC O_LARGEFILE "
        "P_PIDFD CLONE_* copy_file_range eventfd eventfd_read eventfd_write fdatasync getrandom getresgid "
        "getresuid getxattr listxattr memfd_create pidfd_open pipe2 posix_fadvise posix_fallocate removexattr "
        "sched_getaffinity sched_getparam sched_getscheduler sched_param sched_rr_get_interval "
        "sched_setaffinity sched_setparam sched_setscheduler setns setresgid setresuid setxattr splice "
        "unshare waitid"
    ),
    "socket": (
        "SOCK_CLOEXEC SOCK_NONBLOCK AF_ALG AF_CAN AF_NETLINK AF_VSOCK AF_QIPCRTR AF_TIPC SO_BINDTODEVICE "
        "SO_DOMAIN SO_INCOMING_CPU SO_MARK SO_PASSCRED SO_PASSSEC SO_PEERCRED SO_PEERSEC SO_PRIORITY "
        "SO_PROTOCOL SO_VM_* IP_TRANSPARENT TCP_CONGESTION TCP_CORK TCP_DEFER_ACCEPT TCP_INFO TCP_KEEPIDLE "
        "TCP_LINGER2 TCP_MD5SIG TCP_QUICKACK TCP_SYNCNT TCP_USER_TIMEOUT TCP_WINDOW_CLAMP MSG_CMSG_CLOEXEC "
        "MSG_CONFIRM MSG_ERRQUEUE MSG_FASTOPEN MSG_MORE MSG_NOSIGNAL SCM_CREDENTIALS"
    ),
    "signal": "SIGRTMIN SIGRTMAX SIGPWR SIGSTKFLT SIGPOLL SIGCLD pidfd_send_signal sigtimedwait sigwaitinfo",
    "time": "CLOCK_BOOTTIME CLOCK_TAI CLOCK_MONOTONIC_COARSE CLOCK_REALTIME_COARSE pthread_getcpuclockid",
    "fcntl": "F_SETPIPE_SZ F_GETPIPE_SZ F_ADD_SEALS F_GET_SEALS F_SEAL_* F_NOTIFY DN_* F_SETSIG F_GETSIG F_OFD_*",
    "resource": (
        "prlimit RUSAGE_THREAD RLIMIT_MSGQUEUE RLIMIT_NICE RLIMIT_OFILE RLIMIT_RTPRIO RLIMIT_RTTIME RLIMIT_SIGPENDING"
    ),
    "mmap": (
        "MADV_DOFORK MADV_DONTDUMP MADV_DODUMP MADV_DONTFORK MADV_HUGEPAGE MADV_HWPOISON MADV_MERGEABLE "
        "MADV_NOHUGEPAGE MADV_POPULATE_* MADV_REMOVE MADV_UNMERGEABLE MAP_POPULATE MAP_DENYWRITE "
        "MAP_EXECUTABLE"
    ),
}
"""Names that macOS lacks, by module; `select` first, because `selectors` chooses when it is imported. A star stands for
any ending."""

CALLS = {"prctl", "malloc_trim", "mallopt", "gettid", "pidfd_open", "memfd_create", "eventfd", "accept4"}
"""Functions that macOS's C library lacks."""

QOS_DEFAULT = 0x15
"""The quality of service class of a new thread (`sys/qos.h`); each thread has its own."""


def imitate() -> None:
    from darwin import kqueue

    for name, lacking in LACKING.items():
        module = importlib.import_module(name)
        here = vars(module)
        for each in lacking.split():
            found = [name for name in here if name.startswith(each[:-1])] if each.endswith("*") else [each]
            for gone in found:
                here.pop(gone, None)
        if "__all__" in here:
            here["__all__"] = [name for name in here["__all__"] if name in here]
    kqueue.imitate()
    import ctypes
    import threading

    original, mine = ctypes.CDLL.__getattr__, threading.local()

    def set_quality(quality: int, _: int) -> int:
        mine.quality = quality
        return 0

    brought = {
        "pthread_set_qos_class_self_np": set_quality,
        "qos_class_self": lambda: getattr(mine, "quality", QOS_DEFAULT),
    }

    def found(library: ctypes.CDLL, name: str) -> Any:
        if name in CALLS:
            raise AttributeError(f"dlsym: symbol not found: {name}")
        return brought.get(name) or original(library, name)

    ctypes.CDLL.__getattr__ = found  # type: ignore[method-assign]
