"""Checks every annotation of ours, array shapes included, while tests run."""

from jaxtyping import install_import_hook

# Not the command-line option: jaxtyping 0.3 cuts its list at the first comma once the checker takes arguments.
install_import_hook(
    ("experts", "action_mapping", "templates", "spatial_engine"),
    "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))",
)
