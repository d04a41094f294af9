"""What an API key may do."""

from enum import StrEnum

LONGEST_NAME = 100


class Scope(StrEnum):
    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    def allows(self, needed: "Scope") -> bool:
        order = [Scope.READ, Scope.WRITE, Scope.ADMIN]
        return order.index(self) >= order.index(needed)
