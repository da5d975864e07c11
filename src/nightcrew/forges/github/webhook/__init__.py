"""GitHub's webhooks, received: what is signed, what it is about, and a small server for it. They decide nothing."""
