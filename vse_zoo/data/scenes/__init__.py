"""The built-in data set: pictures of coloured shapes, rendered from (seed, index), with English and German captions."""

from vse_zoo.data.scenes.captions import CAPTIONS_PER_LANGUAGE, LANGUAGES, SceneCaption, ScenePhrase, captions
from vse_zoo.data.scenes.ceiling import Ceiling, ceiling, ceiling_of
from vse_zoo.data.scenes.meaning import Description, Meaning, Mention, fits
from vse_zoo.data.scenes.rendering import object_box, render, render_scene
from vse_zoo.data.scenes.world import IMAGE_SIZE, Scene, SceneObject, sample_scene, scene_index, scene_name

__all__ = [
    "CAPTIONS_PER_LANGUAGE",
    "Ceiling",
    "Description",
    "IMAGE_SIZE",
    "LANGUAGES",
    "Meaning",
    "Mention",
    "Scene",
    "SceneCaption",
    "SceneObject",
    "ScenePhrase",
    "captions",
    "ceiling",
    "ceiling_of",
    "fits",
    "object_box",
    "render",
    "render_scene",
    "sample_scene",
    "scene_index",
    "scene_name",
]
