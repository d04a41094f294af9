"""Puts a batch's snapshots and pictures into object storage, and references in their place."""

from dataclasses import replace

from crawler.adapters.objects.object_store import ObjectStore
from crawler.adapters.postgres.snapshot_bytes import PICTURE_HEAD
from crawler.domain.engine.ledger import Batch


def put_outside(batch: Batch, objects: ObjectStore) -> Batch:
    snapshots = list({snapshot.id: snapshot for snapshot in batch.snapshots}.values())
    bodies = [(snapshot.id, snapshot.content) for snapshot in snapshots]
    images = [(picture.version_id, picture.image) for picture in batch.pictures]
    references = objects.put([*bodies, *images])
    return replace(
        batch,
        snapshots=[one._replace(content=reference) for one, reference in zip(snapshots, references, strict=False)],
        pictures=[
            picture._replace(image=picture.image[:PICTURE_HEAD] + reference)
            for picture, reference in zip(batch.pictures, references[len(snapshots) :], strict=True)
        ],
    )
