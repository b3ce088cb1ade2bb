"""The front's side of the player: its state, its journal and the channel to it."""
