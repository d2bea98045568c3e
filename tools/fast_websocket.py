"""JupyterLab's connection to a kernel without Nagle's algorithm, which holds back small answers.

`course.py lab` names `Connection` to the server where it can be imported; without it everything works, and explorers
answer a little later. It needs jupyter_server, so neither the course's package nor a kernel imports it.
"""

import asyncio

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection


class Connection(ZMQChannelsWebsocketConnection):
    """The server's own connection; each message leaves at once."""

    def connect(self) -> asyncio.Future[None] | None:  # type: ignore[override]  # as the class above has it
        """Open the connection. Where TCP_NODELAY cannot be set, it stays as slow as before."""
        if hasattr(self.websocket_handler, "set_nodelay"):
            self.websocket_handler.set_nodelay(True)
        return super().connect()
