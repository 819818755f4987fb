"""Benchmarks by name: `spatial-engine evaluate PATH --benchmark NAME`.

Third parties add theirs through entry points of `spatial_engine.benchmarks`:

    [project.entry-points."spatial_engine.benchmarks"]
    my_bench = "my_package.my_bench:MyBench"        # a Benchmark that takes no arguments
"""

from experts.registry import Registry, UnknownNameError
from spatial_engine.errors import UsageError
from spatial_engine.evaluation.benchmarks.benchmark import Benchmark

_HERE = "spatial_engine.evaluation.benchmarks"
BENCHMARKS = Registry(
    "spatial_engine.benchmarks",
    {
        "vsi_bench": f"{_HERE}.vsi_bench:VsiBench",
        "site": f"{_HERE}.site_bench:SiteBench",
        "mmsi_bench": f"{_HERE}.mmsi_bench:MmsiBench",
        "omnispatial": f"{_HERE}.omnispatial:OmniSpatial",
        "mindcube": f"{_HERE}.mindcube:MindCube",
        "mindcube_tiny": f"{_HERE}.mindcube:MindCubeTiny",
        "stare": f"{_HERE}.stare:Stare",
        "corecognition": f"{_HERE}.corecognition:CoreCognition",
        "spatialviz": f"{_HERE}.spatialviz:SpatialViz",
        "spatialtree": f"{_HERE}.spatialtree_bench:SpatialTreeBench",
        "spatiallogic": f"{_HERE}.spatiallogic:SpatialLogic",
        "escher_bench": f"{_HERE}.escher_bench:EscherBench",
    },
)
"""In the order of the table."""


def benchmark_of(name: str) -> Benchmark:
    """The benchmark called `name`. Raises `UsageError`, which lists the known ones."""
    try:
        found: Benchmark = BENCHMARKS.load(name)()
    except UnknownNameError as error:
        raise UsageError(
            f"no benchmark is called {name!r}", f"choose one of {', '.join(BENCHMARKS.targets())}"
        ) from error
    return found
