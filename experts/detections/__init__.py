"""Detections that the user has: files of detectors, segmenters and annotation tools."""
