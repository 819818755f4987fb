"""People judge recorded answers, correct and write questions: a page for one annotator, and agreement of several."""

from spatial_engine.adjudication.agreement import fold_in
from spatial_engine.adjudication.label_studio import from_label_studio, to_label_studio
from spatial_engine.adjudication.server import adjudicate
from spatial_engine.adjudication.settled import to_dataset
from spatial_engine.adjudication.verdicts import Verdicts

__all__ = ["Verdicts", "adjudicate", "fold_in", "from_label_studio", "to_dataset", "to_label_studio"]
