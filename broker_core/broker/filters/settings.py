"""Settings of the filters that a broker keeps."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.broker.filters.bloom import Bloom


@dataclass(frozen=True, slots=True)
class FilterSettings:
    """How filters are kept."""

    serves_sql: bool = True  # enablePropertyFilter
    calculates_bits: bool = False  # enableCalcFilterBitMap
    error_percent: int = 20  # maxErrorRateOfBloomFilter
    consumers: int = 32  # expectConsumerNumUseFilter
    kept_ms: int = 24 * 3_600_000  # filterDataCleanTimeSpan: how long after its consumers have left

    @property
    def bloom(self) -> Bloom:
        """The geometry of the bits."""
        return Bloom.of(error_percent=self.error_percent, consumers=self.consumers)
