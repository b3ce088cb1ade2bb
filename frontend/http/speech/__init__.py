"""The answers to requests for speech, streamed or whole. Imported by `frontend.http.app` and `frontend.http.routes`."""
