"""Tokens of ordered effects where devices differ and programs fail later."""

from __future__ import annotations

import pytest

import olympus
from olympus._src.interpreters import effect_tokens
from olympus._src.runtime.versions import XlaRuntimeError

EFFECT = "an ordered effect"


class Token:
    """The token of a program that is not done, or that failed."""

    def __init__(self, device, error=None, is_ready=True):
        self.single_device = device
        self._error = error
        self._is_ready = is_ready
        self._buffer = self
        self.waits = 0

    def is_ready(self):
        return self._is_ready

    def block_until_ready(self):
        self.waits += 1
        if self._error is not None:
            raise self._error
        return self


@pytest.fixture
def tokens():
    return effect_tokens._EffectTokens()


@pytest.fixture
def device():
    return olympus.devices()[0]


def test_a_program_of_the_same_device_is_queued_behind_the_last(tokens, device):
    last = Token(device, is_ready=False)
    tokens.put([EFFECT], [last])
    assert tokens.take([EFFECT], device) == [last]
    assert last.waits == 0


@pytest.mark.parametrize("error", [None, XlaRuntimeError("INTERNAL: no luck")])
def test_a_program_of_another_device_waits_and_takes_its_own(tokens, device, error):
    last = Token("another device", error, is_ready=False)
    tokens.put([EFFECT], [last])
    (taken,) = tokens.take([EFFECT], device)
    assert list(taken._sharding._internal_device_list) == [device]
    assert last.waits == 1


@pytest.mark.eight_devices
def test_the_new_token_is_on_the_device_of_the_program(tokens):
    first, second = olympus.devices()[:2]
    tokens.put([EFFECT], [Token(first)])
    (taken,) = tokens.take([EFFECT], second)
    assert list(taken._sharding._internal_device_list) == [second]


def test_a_failed_program_leaves_the_next_alone_and_is_reported_once(tokens, device):
    error = XlaRuntimeError("INTERNAL: no luck")
    failed = Token(device, error)
    tokens.put([EFFECT], [failed])
    assert tokens.take([EFFECT], device) != [failed]
    tokens.put([EFFECT], [Token(device)])
    with pytest.raises(XlaRuntimeError, match="no luck"):
        tokens.wait()
    tokens.wait()


def test_a_failed_program_that_is_the_last_is_reported_once(tokens, device):
    tokens.put([EFFECT], [Token(device, XlaRuntimeError("INTERNAL: no luck"))])
    with pytest.raises(XlaRuntimeError, match="no luck"):
        tokens.wait()
    tokens.wait()
