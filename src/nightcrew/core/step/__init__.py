"""What each status asks for next, one status a file; and what comes before that: a person's hand, and live runs."""
