"""The OpenAPI document, and the page that shows it. Imported by `frontend.http.app`."""
