"""Snippets and code for hosts to copy, with the site's key and address."""

from apps.authors.models import Site

FORWARD = """// The same two calls wherever your chatbot shows a message:
LabelHub.message(userText, { id: messageId, conversation: conversationId, role: "author" });
LabelHub.message(replyText, { id: replyId, conversation: conversationId, role: "assistant" });"""

#: Optional, before the tag: keeps calls until the widget has loaded. Pages that forbid inline
#: scripts need these lines in a file.
QUEUE = """<script>
window.LabelHub = window.LabelHub || { q: [],
  message() { this.q.push(["message", ...arguments]); },
  identify() { this.q.push(["identify", ...arguments]); } };
</script>"""


def snippet(site: Site, script: str, mode: str = "companion") -> str:
    """The tag for a page with its own chatbot; with the mode "chat" the widget is the chat."""
    consent = ' data-consent="host"' if site.consent_by == Site.ConsentBy.HOST else ""
    attributes = f'data-site="{site.public_key}" data-mode="{mode}"{consent}'
    return f'<script async src="{script}"\n  {attributes}></script>'


def csp(origin: str) -> str:
    """The lines that a host's Content-Security-Policy needs."""
    socket = origin.replace("http", "ws", 1)
    return f"script-src {origin};\nconnect-src {origin} {socket};"


def python_token(site: Site) -> str:
    return f"""import os, time
import jwt  # pip install pyjwt

def labelhub_token(user_id: str) -> str:
    now = int(time.time())
    claims = {{"sub": user_id, "aud": "{site.public_key}", "iat": now, "exp": now + 900}}
    secret = os.environ["LABELHUB_SIGNING_SECRET"]
    headers = {{"kid": os.environ["LABELHUB_SIGNING_KEY_ID"]}}
    return jwt.encode(claims, secret, algorithm="HS256", headers=headers)

# In the page:  LabelHub.identify(token)"""


def node_token(site: Site) -> str:
    return f"""import jwt from "jsonwebtoken"; // npm install jsonwebtoken

export function labelhubToken(userId) {{
  return jwt.sign({{}}, process.env.LABELHUB_SIGNING_SECRET, {{
    algorithm: "HS256",
    keyid: process.env.LABELHUB_SIGNING_KEY_ID,
    subject: userId,
    audience: "{site.public_key}",
    expiresIn: "15m",
  }});
}}

// In the page:  LabelHub.identify(token)"""


def server_call(site: Site, origin: str) -> str:
    """Calls of a chatbot's back end, without a browser."""
    base = f"{origin}/api/v1/sites/{site.public_key}"
    return f"""# Post a message and get its questions (waits up to 5 seconds for them):
curl -X POST {base}/messages/ \\
  -H "Authorization: Bearer $LABELHUB_SERVER_KEY" -H "Content-Type: application/json" \\
  -d '{{"author": "user-17", "id": "m-1", "conversation": "c-1", "consent": true,
       "text": "I need a quiet laptop by Friday.", "wait": 5}}'

# Report when a question is shown, then send the answer:
curl -X POST {base}/questions/QUESTION_ID/shown/ \\
  -H "Authorization: Bearer $LABELHUB_SERVER_KEY" -H "Content-Type: application/json" \\
  -d '{{"author": "user-17"}}'
curl -X POST {base}/questions/QUESTION_ID/answer/ \\
  -H "Authorization: Bearer $LABELHUB_SERVER_KEY" -H "Content-Type: application/json" \\
  -d '{{"author": "user-17", "id": "a-1", "option": "OPTION_ID"}}'"""
