"""Units of lengths, angles, times, areas and speeds, as people write them."""

import math

_KINDS: dict[str, dict[float, str]] = {
    "length": {
        1.0: "m meter meters metre metres 米",
        0.1: "dm",
        0.01: "cm centimeter centimeters centimetre centimetres 厘米",
        1e-3: "mm millimeter millimeters millimetre millimetres 毫米",
        1e3: "km kilometer kilometers kilometre kilometres",
        0.3048: "ft foot feet",
        0.0254: "in inch inches",
        0.9144: "yd yard yards",
        1609.344: "mi mile miles",
    },
    "angle": {
        1.0: r"° º ˚ deg degs degree degrees \circ ^\circ 度",
        math.degrees(1): "rad rads radian radians",
    },
    "time": {
        1.0: "s sec secs second seconds",
        1e-3: "ms millisecond milliseconds",
        60.0: "min minute minutes",
        3600.0: "h hour hours",
    },
    "area": {
        1.0: "m² m2 m^2 sqm square_meter square_meters square_metres",
        1e-4: "cm² cm2 cm^2",
        0.09290304: "ft² ft2 ft^2 square_feet square_foot sq_ft",
    },
    "speed": {1.0: "m/s", 0.01: "cm/s", 1e-3: "mm/s", 1 / 3.6: "km/h kmh", 0.44704: "mph", 0.3048: "ft/s"},
    "pixel": {1.0: "px pixel pixels"},
    "mass": {1.0: "kg", 1e-3: "g", 0.45359237: "lb"},
    "share": {0.01: "% percent ％"},
    "ratio": {1.0: "x × times fold"},
}
"""Kind -> size in m, degrees, s, m², m/s, kg -> names."""

UNITS: dict[str, tuple[str, float]] = {
    name.replace("_", " "): (kind, size)
    for kind, sizes in _KINDS.items()
    for size, names in sizes.items()
    for name in names.split()
}
"""Name -> (kind, size)."""
