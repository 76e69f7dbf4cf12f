"""The types of requests and replies, by the names of the OpenAPI document."""

from .generated.types import *
