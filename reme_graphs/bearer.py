"""May this request come in? Only with the server's token, where it has one."""

import hmac

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class Bearer:
    """An application that answers 401 to whoever does not send the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it; what is no request always passes."""
        if scope["type"] != "http" or self._knows(Headers(scope=scope).get("authorization", "")):
            await self._app(scope, receive, send)
            return
        told = {"success": False, "answer": "Error: this server wants its bearer token", "metadata": {}}
        refusal = JSONResponse(told, status_code=401, headers={"WWW-Authenticate": "Bearer"})
        await refusal(scope, receive, send)

    def _knows(self, header: str) -> bool:
        kind, _, token = header.partition(" ")
        return kind.lower() == "bearer" and hmac.compare_digest(token.strip().encode(), self._token)
