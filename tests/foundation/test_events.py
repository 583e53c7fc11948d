"""Events reach their listeners, and only theirs."""

import threading

import pytest

from olympus._src.foundation import events

KINDS = [
    (
        events.register_event_listener,
        events.unregister_event_listener,
        events.record_event,
        (),
    ),
    (
        events.register_event_duration_secs_listener,
        events.unregister_event_duration_listener,
        events.record_event_duration_secs,
        (1.5,),
    ),
    (
        events.register_event_time_span_listener,
        events.unregister_event_time_span_listener,
        events.record_event_time_span,
        (1.0, 2.0),
    ),
    (
        events.register_scalar_listener,
        events.unregister_scalar_listener,
        events.record_scalar,
        (7,),
    ),
]


@pytest.fixture(autouse=True)
def _silence():
    yield
    events.clear_event_listeners()


@pytest.mark.parametrize(("register", "unregister", "record", "args"), KINDS)
def test_a_listener_hears_its_kind(register, unregister, record, args):
    heard = []

    def listen(*a, **labels):
        heard.append((a, labels))

    register(listen)
    for _, _, other, values in KINDS:
        other("/test/event", *values, device="cpu")
    assert heard == [(("/test/event", *args), {"device": "cpu"})]
    unregister(listen)
    record("/test/event", *args)
    assert len(heard) == 1
    with pytest.raises(ValueError, match="only a registered listener"):
        unregister(listen)


def test_clearing_silences_all():
    heard = []
    for register, _, _, _ in KINDS:
        register(lambda *a, **k: heard.append(a))
    events.clear_event_listeners()
    for _, _, record, args in KINDS:
        record("/test/event", *args)
    assert heard == []


def test_a_listener_may_leave_while_it_is_called():
    heard = []

    def once(event):
        heard.append(event)
        events.unregister_event_listener(once)

    events.register_event_listener(once)
    events.register_event_listener(heard.append)
    events.record_event("/a")
    events.record_event("/b")
    assert heard == ["/a", "/a", "/b"]


def test_listeners_come_and_go_in_threads():
    def work():
        for _ in range(500):
            listener = [].append
            events.register_event_listener(listener)
            events.record_event("/a")
            events.unregister_event_listener(listener)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert events._events.listeners == ()


def test_a_listener_must_be_callable():
    with pytest.raises(TypeError, match="must be callable, got int"):
        events.register_scalar_listener(3)
