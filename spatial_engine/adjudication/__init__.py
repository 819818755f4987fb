"""People judge recorded answers: a page for one annotator, agreement of several, and a summary in the audit."""

from spatial_engine.adjudication.agreement import fold_in
from spatial_engine.adjudication.label_studio import from_label_studio, to_label_studio
from spatial_engine.adjudication.server import adjudicate
from spatial_engine.adjudication.verdicts import Verdicts

__all__ = ["Verdicts", "adjudicate", "fold_in", "from_label_studio", "to_label_studio"]
