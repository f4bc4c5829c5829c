"""Our central pairs with BlueZ's peripheral, whose person answers in bluetoothctl."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from conftest import AgentFactory
from support.agent import Agent, AgentError
from support.bluez import BlueZ
from support.pairing import (
    JUST_WORKS, MODELS, Model, consent, leave, paired, person, properties_of, until_known)
from support.radio import ADDRESSES
from support.sample import Sample, connect

THEIRS = ADDRESSES[1]


@pytest_asyncio.fixture(scope="module")
async def sample(daemon: BlueZ) -> AsyncIterator[Sample]:
    await daemon.adapter("hci1")
    sample = Sample(daemon)
    async with sample.served():
        yield sample


@pytest_asyncio.fixture
async def agent(agents: AgentFactory, bluez: BlueZ, sample: Sample) -> Agent:
    """Our library on hci0, without bonds, and unknown to BlueZ.

    Each case has its own process, because after a failed pairing the next attempt has to wait.
    """
    return await agents()


@pytest.mark.parametrize("model", MODELS, ids=str)
async def test_a_model(agent: Agent, bluez: BlueZ, sample: Sample, model: Model) -> None:
    secret = sample.authenticated if model.is_authenticated else sample.encrypted
    async with person(model) as shell:
        link = await paired(agent, shell, model)
        assert bytes.fromhex((await link("read", handle=secret.handle))["value"]) == secret.value
        ended = await agent.event("pairingEnded")
        assert ended["security"] == model.security
        await until_known(bluez, Paired=True, Bonded=True)
        await leave(link)
        # With the keys of the bond: nobody is asked anything.
        for _ in range(2):
            link = await connect(agent, THEIRS)
            assert (await link("security"))["security"] == model.security
            assert bytes.fromhex((await link("read", handle=secret.handle))["value"]) == secret.value
            await leave(link)
        assert not [event for event in agent.events if event["event"] in ("asked", "shown", "pairingEnded")]


async def test_a_value_that_needs_more_than_its_bond_gives(agent: Agent, sample: Sample) -> None:
    async with person(JUST_WORKS) as shell:
        link = await paired(agent, shell, JUST_WORKS)
        with pytest.raises(AgentError, match="Insufficient Authentication"):
            await link("read", handle=sample.authenticated.handle)
        await leave(link)


async def test_a_read_pairs_on_demand(agent: Agent, sample: Sample) -> None:
    async with person(JUST_WORKS) as shell:
        await agent("beAgent", capability="noInputNoOutput", pairsOnDemand=True)
        link = await connect(agent, THEIRS)
        answer = agent.begin("read", connection=link.number, handle=sample.encrypted.handle)
        await consent(shell)
        assert bytes.fromhex((await answer)["value"]) == sample.encrypted.value
        await leave(link)


async def test_the_wrong_passkey(agent: Agent, bluez: BlueZ) -> None:
    model = next(model for model in MODELS if model.name == "passkey shown there")
    async with person(model) as shell:
        await agent("beAgent", capability=model.ours)
        link = await connect(agent, THEIRS)
        answer = agent.begin("pair", connection=link.number, requiresAuthentication=True)
        await agent.event("asked", question="enterPasskey")
        shown = await shell.hear(r"Passkey: *(\d{6})")
        await agent("answerPairing", passkey=int(shown[1]) ^ 1)
        with pytest.raises(AgentError, match="a passkey or a confirm value was wrong"):
            await answer
        assert (await properties_of(bluez)).get("Paired", False) is False
        assert (await agent("bonds"))["peers"] == []
        # As a peripheral BlueZ leaves the link as it is.
        await leave(link)


async def test_their_person_refuses(agent: Agent, bluez: BlueZ) -> None:
    async with person(JUST_WORKS) as shell:
        await agent("beAgent", capability="noInputNoOutput")
        link = await connect(agent, THEIRS)
        answer = agent.begin("pair", connection=link.number)
        await consent(shell, "no")
        # The kernel has no other reason for that.
        with pytest.raises(AgentError, match="the numbers were not confirmed to be equal"):
            await answer
        assert (await agent("bonds"))["peers"] == []
        await leave(link)
