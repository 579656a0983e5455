"""Requirements of `gateway.data.app`: who may, how much, and that nothing a client sends ends in a 500."""

from __future__ import annotations
