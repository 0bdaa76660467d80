"""The cards: reading them, their rules, the claims they refute, their computed results."""
