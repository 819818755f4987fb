"""The German and the Chinese lexicon: what rules can hold of a translation."""

from spatial_engine.language.lexicon import Entry, Lexicon

GERMAN = Lexicon(
    entries={
        "cm": Entry(kind="unit", words=r"Zentimetern?"),
        "mm": Entry(kind="unit", words=r"Millimetern?"),
        "km": Entry(kind="unit", words=r"Kilometern?"),
        "m": Entry(kind="unit", words=r"Metern?"),
        "px": Entry(kind="unit", words=r"Pixeln?"),
        "deg": Entry(kind="unit", words=r"Grad"),
        "rad": Entry(kind="unit", words=r"Radiant|Bogenmaß"),
        "s": Entry(kind="unit", words=r"Sekunden?"),
        "min": Entry(kind="unit", words=r"Minuten?"),
        "percent": Entry(kind="unit", words=r"Prozent"),
        "not": Entry(
            kind="negation",
            words=r"nicht|kein\w*|nie(?:mals|mand\w*)?|nichts|ohne|weder|unabhängig|abgesehen|außer|ignorier\w+",
        ),
        "counterclockwise": Entry(
            kind="direction", words=r"(?:gegen den|entgegen dem) Uhrzeigersinn|Gegenuhrzeigersinn"
        ),
        "clockwise": Entry(kind="direction", words=r"im Uhrzeigersinn"),
        "left": Entry(kind="direction", words=r"links|linke\w*|am weitesten links"),
        "right": Entry(kind="direction", words=r"rechts|rechte\w*"),
    },
    idioms=r"rechte\w* Winkel\w*|rechteck\w*",
    said=r"\b(?:der|die|das|den|dem|des|ist|sind|welche[rsmn]?|wie|wo|von|und|auf|im|in|zu|zur|zum|man|wenn|bei|eine?)\b",
)

CHINESE = Lexicon(
    entries={
        "cm": Entry(kind="unit", words=r"厘米|公分"),
        "mm": Entry(kind="unit", words=r"毫米"),
        "km": Entry(kind="unit", words=r"公里|千米"),
        "m": Entry(kind="unit", words=r"(?<![厘毫分千])米|公尺"),
        "px": Entry(kind="unit", words=r"像素"),
        "deg": Entry(kind="unit", words=r"(?<=\d)\s?度|以度|度数|多少度|几度"),
        "rad": Entry(kind="unit", words=r"弧度"),
        "s": Entry(kind="unit", words=r"秒"),
        "min": Entry(kind="unit", words=r"分钟"),
        "percent": Entry(kind="unit", words=r"百分之|%"),
        "not": Entry(kind="negation", words=r"不(?!同|断|过|论)|没有|没|无法|并非|无需|未(?!来)|别的|忽略|除了"),
        "counterclockwise": Entry(kind="direction", words=r"逆时针"),
        "clockwise": Entry(kind="direction", words=r"顺时针"),
        "left": Entry(kind="direction", words=r"左"),
        "right": Entry(kind="direction", words=r"右"),
    },
    said=r"[的是在哪]",
    spaced=False,
)
