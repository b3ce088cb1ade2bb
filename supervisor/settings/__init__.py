"""All settings of a server: composed of each folder's dataclasses, and made into flags, variables and TOML keys.

Every room enters.
"""
