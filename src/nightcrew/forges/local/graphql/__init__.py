"""The part of GitHub's GraphQL API that Nightcrew uses, executed against GitHub's own published schema."""
