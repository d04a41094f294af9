"""What is logged of messages that Celery drops: why, and never what is in them.

Whoever mistypes a task's name, or shares our broker, may send passwords and addresses. Celery would log them whole.
"""

import logging

from celery.worker.consumer import consumer

LONGEST_REASON = 200
_SENTENCES = {
    consumer.UNKNOWN_TASK_ERROR: "Dropped a message: there is no task %s.",
    consumer.INVALID_TASK_ERROR: "Dropped a message that cannot be taken: %s",
    consumer.UNKNOWN_FORMAT: "Dropped a message that is none of Celery's.",
    consumer.MESSAGE_DECODE_ERROR: "Dropped a message whose body is not JSON.",
}


def hide_contents() -> None:
    logging.getLogger(consumer.__name__).addFilter(_hide)


def _hide(record: logging.LogRecord) -> bool:
    """Shorten what is logged of a dropped message; all else is logged as it is."""
    if sentence := _SENTENCES.get(record.msg):
        reasons = record.args[: sentence.count("%s")] if isinstance(record.args, tuple) else ()
        record.msg = sentence
        record.args = tuple(str(reason)[:LONGEST_REASON] for reason in reasons)
        record.exc_info = None
    return True
