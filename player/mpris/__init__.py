"""MPRIS: media keys and Now Playing of Linux desktops, over the D-Bus session bus (extra `mpris`)."""
