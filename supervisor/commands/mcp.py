"""`kokoro-live mcp`: tools for language models, by the Model Context Protocol on standard input and output."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import click

from supervisor.commands.client_command import AskingCommand, address_options, server_url


@click.command(cls=AskingCommand)
@address_options
@click.pass_context
def mcp(context: click.Context, /, **_settings: Any) -> None:
    """Give an agent tools to speak through a running server: speak, stop, status, list_voices, render.

    The agent's program starts this command and talks to it on standard input and output (MCP). Needs the extra mcp.
    """
    if find_spec("mcp") is None:
        from kokoro_live.installation import this_installation

        raise click.ClickException(f"`kokoro-live mcp` needs the extra mcp: {this_installation().add('mcp')}")
    from supervisor.speaking.agent_tools import AgentTools

    AgentTools(server_url(context)).server().run("stdio")
