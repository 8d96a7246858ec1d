"""The scenarios that every client has to pass: see README.md."""

import contextlib
import json
import os
import select
import signal
import tempfile
import threading
import unittest
from typing import Any, ClassVar

from harness import DRIVERS, PATIENCE, Daemon, Driver, FakeDaemon, Peer, ServerTests, wait_until

HOUR = 3_600_000_000


def countdown(key: str = "tea", **members: Any) -> dict[str, Any]:
    """A countdown on the wire."""
    return {
        "key": key,
        "state": "running",
        "clock": "elapsed",
        "durationUSec": 60_000_000,
        "remainingUSec": 60_000_000,
        "startedUSec": 1_700_000_000_000_001,
        "deadlineUSec": 1_700_000_060_000_001,
        "forget": False,
        "revision": 7,
        **members,
    }


def synced(revision: int) -> dict[str, Any]:
    return {"type": "synced", "revision": revision}


def finished(key: str, revision: int) -> dict[str, Any]:
    ended = countdown(key, state="finished", remainingUSec=0, endedUSec=1_700_000_060_000_001, revision=revision)
    del ended["deadlineUSec"]
    return {
        "type": "finished", "revision": revision, "key": key, "remainingUSec": 0, "lateUSec": 3, "countdown": ended,
    }


def stay(peer: Peer) -> None:
    """Keeps the connection until the client closes it."""
    peer.wait_for_end()


class Scenarios(ServerTests):
    """What each client has to do. `client` names its driver."""

    client: ClassVar[str]

    def driver(self, server: Daemon | FakeDaemon) -> Driver:
        return self.driver_in({"COUNTDOWND_SOCKET": str(server.socket)})

    def driver_in(self, environment: dict[str, str]) -> Driver:
        driver = Driver(self.client, environment)
        self.addCleanup(driver.close)
        return driver

    # Calls

    def test_a_countdown_is_started_found_running_listed_and_cancelled(self) -> None:
        driver = self.driver(self.daemon())
        first = driver.do("start", key="tea", durationUSec=HOUR + 1, label="Earl Grey", metadata={"cup": "blue"})
        self.assertEqual(first["outcome"], "started")
        self.assertEqual(first["countdown"]["durationUSec"], HOUR + 1)
        # A client may give instants in whole milliseconds.
        self.assertAlmostEqual(first["countdown"]["deadlineUSec"], first["countdown"]["startedUSec"] + HOUR + 1, delta=1000)
        self.assertEqual(first["countdown"]["metadata"], {"cup": "blue"})
        self.assertEqual(driver.do("start", key="tea")["outcome"], "attached")
        self.assertEqual(driver.do("start", key="a", deadlineUSec=4_000_000_000_000_000)["countdown"]["clock"], "wall")
        self.assertEqual(driver.do("get", key="tea")["label"], "Earl Grey")
        self.assertEqual([one["key"] for one in driver.do("list")], ["tea", "a"])
        self.assertEqual([one["key"] for one in driver.do("list", match=["t*"], states=["running"])], ["tea"])
        self.assertEqual(driver.do("list", keys=["no"]), [])
        self.assertEqual([one["key"] for one in driver.do("list", soonest=1)], ["tea"])
        revision = first["countdown"]["revision"]
        self.assertEqual(driver.do("cancel", key="tea", ifRevision=revision)["state"], "cancelled")

    def test_a_list_has_the_countdowns_of_all_pages(self) -> None:
        daemon = self.daemon()
        keys = [f"key/{number}" for number in range(100)]
        for key in keys:
            daemon.call("Start", key=key, label="x" * 1000)
        self.assertEqual([one["key"] for one in self.driver(daemon).do("list")], keys)

    def test_unicode_arrives_as_it_was_sent(self) -> None:
        driver = self.driver(self.daemon())
        key, label = "茶/🫖/é", 'a "line"\nand \\ more\u2028\U0001f375'
        self.assertEqual(driver.do("start", key=key, label=label)["countdown"]["label"], label)
        self.assertEqual(driver.do("get", key=key)["key"], key)
        driver.do("watch", keys=[key], tickUSec=0)
        self.assertEqual(driver.next()["countdown"]["label"], label)

    def test_waiting_ends_with_the_countdown(self) -> None:
        driver = self.driver(self.daemon())
        driver.do("start", key="tea", durationUSec=1000)
        self.assertEqual(driver.do("wait", key="tea")["state"], "finished")

    def test_waiting_survives_the_daemon(self) -> None:
        daemon = self.daemon()
        driver = self.driver(daemon)
        driver.do("start", key="tea", durationUSec=HOUR)
        driver.send("wait", key="tea")
        # A second connection: the daemon has the call of the first one.
        wait_until(lambda: daemon.call("GetStatus")["connections"] >= 2)
        daemon.restart(signal.SIGKILL)
        daemon.call("Finish", key="tea")
        self.assertEqual(driver.result()["state"], "finished")

    def test_a_call_may_wait_while_others_are_made(self) -> None:
        daemon = self.daemon()
        daemon.call("Start", key="tea", durationUSec=HOUR)
        driver = self.driver(daemon)
        driver.send("start", key="tea", durationUSec=1000, ifRunning="wait")
        wait_until(lambda: daemon.call("GetStatus")["queuedStarts"] == 1)
        daemon.call("Finish", key="tea")
        self.assertEqual(driver.result()["outcome"], "started")

    # Limits

    def test_several_cooldowns_are_started_or_none_and_a_dry_run_only_looks(self) -> None:
        daemon = self.daemon()
        driver = self.driver(daemon)
        rate = {"key": "phone/1d", "durationUSec": HOUR, "upToUSec": 3 * HOUR, "forget": True}
        cooldowns = [{"key": "phone", "durationUSec": HOUR, "label": "Code", "metadata": {"a": "b"}}, rate]
        dry = {"accepted": True, "rooms": [{"key": "phone", "left": 1}, {"key": "phone/1d", "left": 3}]}
        self.assertEqual(driver.do("startAll", cooldowns=cooldowns, dryRun=True), dry)
        self.assertEqual(driver.do("list"), [])
        first = driver.do("startAll", cooldowns=cooldowns)
        self.assertTrue(first["accepted"])
        self.assertEqual([room["left"] for room in first["rooms"]], [0, 2])
        self.assertEqual(first["rooms"][0]["moreUSec"], HOUR)
        self.assertEqual(first["rooms"][0]["countdown"]["metadata"], {"a": "b"})
        refused = driver.do("startAll", cooldowns=cooldowns)
        self.assertFalse(refused["accepted"])
        self.assertEqual(refused["retryAfterUSec"], refused["rooms"][0]["moreUSec"])
        self.assertEqual(driver.do("get", key="phone/1d")["durationUSec"], HOUR)
        self.assertEqual(driver.do("startAll", cooldowns=[rate, rate])["parameter"], "cooldowns")
        self.assertEqual(driver.do("startAll", cooldowns=[{**rate, "upToUSec": 1000}])["parameter"], "upToUSec")

    def test_the_later_deadline_wins_within_a_maximum(self) -> None:
        driver = self.driver(self.daemon())
        driver.do("start", key="api", durationUSec=HOUR, ifRunning="later")
        self.assertEqual(driver.do("start", key="api", durationUSec=1000, ifRunning="later")["outcome"], "attached")
        more = driver.do("start", key="api", durationUSec=2 * HOUR, ifRunning="later", maxDurationUSec=2 * HOUR)
        self.assertEqual((more["outcome"], more["countdown"]["durationUSec"]), ("extended", 2 * HOUR))

    def test_a_bounded_queue_has_one_trailing_call(self) -> None:
        daemon = self.daemon()
        daemon.call("Start", key="build", durationUSec=HOUR)
        driver, other = self.driver(daemon), self.driver(daemon)
        driver.send("start", key="build", durationUSec=HOUR, ifRunning="wait", queueUpTo=1)
        wait_until(lambda: daemon.call("GetStatus")["queuedStarts"] == 1)
        refused = other.do("start", key="build", durationUSec=HOUR, ifRunning="wait", queueUpTo=1)
        self.assertEqual(refused["class"], "AlreadyRunning")
        self.assertIsNone(refused.get("retryAfterUSec"))
        daemon.call("Finish", key="build")
        self.assertEqual(driver.result()["outcome"], "started")

    # Errors

    def test_errors_of_the_interface_have_their_types_and_members(self) -> None:
        driver = self.driver(self.daemon())
        self.assertEqual(
            driver.do("get", key="tea"), {"error": "NoSuchCountdown", "class": "NoSuchCountdown", "key": "tea"}
        )
        driver.do("start", key="tea", durationUSec=HOUR)
        error = driver.do("start", key="tea", ifRunning="fail")
        self.assertEqual((error["error"], error["class"]), ("AlreadyRunning", "AlreadyRunning"))
        self.assertEqual(error["countdown"]["key"], "tea")
        self.assertEqual(error["retryAfterUSec"], error["countdown"]["remainingUSec"])
        error = driver.do("start", key="tea", durationUSec=HOUR, ifRunning="extend", upToUSec=HOUR)
        self.assertEqual(error["class"], "AlreadyRunning")
        self.assertGreater(error["retryAfterUSec"], 0)
        error = driver.do("cancel", key="tea", ifRevision=1 << 50)
        self.assertEqual((error["class"], error["countdown"]["state"]), ("RevisionMismatch", "running"))
        driver.do("cancel", key="tea")
        self.assertEqual(driver.do("cancel", key="tea")["class"], "WrongState")
        self.assertEqual(
            driver.do("list", soonest=1001),
            {"error": "LimitReached", "class": "LimitReached", "limit": "soonest", "maximum": 1000},
        )
        self.assertEqual(
            driver.do("start", key=""), {"error": "InvalidParameter", "class": "InvalidParameter", "parameter": "key"}
        )

    def test_the_text_of_an_error_has_no_key_because_keys_are_often_telephone_numbers(self) -> None:
        number = "+49 171 138"

        def answer(message: str) -> Any:
            return lambda peer, call: peer.socket.sendall(message.encode() + b"\0")

        driver = self.driver(self.daemon())
        driver.do("start", key=number, label=number, metadata={"phone": number})
        calls: list[dict[str, Any]] = [
            {"do": "start", "ifRunning": "fail"}, {"do": "start", "ifRunning": "extend", "upToUSec": 1},
            {"do": "cancel", "ifRevision": 1 << 50}, {"do": "get", "key": f"{number}x"}, {"do": "get", "key": number * 30},
            {"do": "start", "label": number * 100}, {"do": "list", "match": [f"{number}["]}, {"do": "get", "key": number * 30_000},
        ]
        for call in calls:
            call = {"key": number, **call} if call["do"] != "list" else call
            self.assertIn("error", driver.do(**call))
            self.assertNotIn("138", driver.do("message")["message"], call)
        garbled = [f'{{"parameters":{{"key":"{number}"', f'["{number}"]', f'{{"error":"a.b","parameters":{{"key":"{number}"}}}}']
        driver = self.driver(self.fake(*map(answer, garbled)))
        for text in garbled:
            self.assertIn("error", driver.do("get", key=number))
            self.assertNotIn("138", driver.do("message")["message"], text)

    def test_errors_of_stores_fleets_and_newer_daemons_have_their_types(self) -> None:
        def refusing(error: str, **parameters: Any) -> Any:
            return lambda peer, call: peer.write({"error": error, "parameters": parameters})

        driver = self.driver(
            self.fake(
                refusing("io.countdownd.StorageFailed", reason="disk full"),
                refusing("io.countdownd.Unreachable", reason="no engine"),
                refusing("org.varlink.service.PermissionDenied"),
                refusing("org.varlink.service.MethodNotFound", method="io.countdownd.Get"),
                refusing("io.countdownd.TeaIsCold", degrees=20),
            )
        )
        self.assertEqual(
            driver.do("get", key="tea"), {"error": "StorageFailed", "class": "StorageFailed", "reason": "disk full"}
        )
        self.assertEqual(
            driver.do("get", key="tea"), {"error": "Unreachable", "class": "Unreachable", "reason": "no engine"}
        )
        self.assertEqual(driver.do("get", key="tea")["class"], "PermissionDenied")
        self.assertEqual(driver.do("get", key="tea")["class"], "MethodNotFound")
        self.assertEqual(driver.do("get", key="tea"), {"error": "TeaIsCold", "class": "CallError"})

    def test_a_daemon_that_is_missing_leaves_or_talks_nonsense_is_an_error(self) -> None:
        server = self.fake(
            lambda peer, call: None,
            lambda peer, call: peer.socket.sendall(b"HTTP/1.1 400 Bad Request\0"),
            lambda peer, call: peer.socket.sendall(b"[]\0"),
            lambda peer, call: peer.write({"parameters": {"tea": 1}}),
            lambda peer, call: peer.write({"parameters": {"countdown": 5}}),
            lambda peer, call: peer.write({"parameters": {"countdown": countdown(state=5)}}),
            lambda peer, call: peer.write({"parameters": {"countdown": countdown(startedUSec=1 << 70)}}),
            lambda peer, call: peer.write({"parameters": {"countdown": countdown(metadata={"cup": 1})}}),
            lambda peer, call: peer.write({"parameters": {"countdown": countdown()}, "continues": True}),
            lambda peer, call: peer.write({"error": "io.countdownd.NoSuchCountdown"}),
            lambda peer, call: peer.write({"error": "io.countdownd.AlreadyRunning", "parameters": {"countdown": {}}}),
            lambda peer, call: peer.socket.sendall(b"[" * 100_000 + b"\0"),
            lambda peer, call: peer.socket.sendall(b'{"parameters":' + b"[" * 100_000 + b"]" * 100_000 + b"}\0"),
        )
        driver = self.driver(server)
        self.assertEqual(driver.do("get", key="tea"), {"error": "Disconnected"})
        for call in range(1, 13):
            with self.subTest(call):
                self.assertEqual(driver.do("get", key="tea"), {"error": "ProtocolError"})
        server.finish()
        self.assertEqual(driver.do("get", key="tea"), {"error": "NoDaemon"})
        self.assertEqual(driver.do("wait", key="tea"), {"error": "NoDaemon"})

    def test_nonsense_instead_of_events_ends_a_watch_with_an_error(self) -> None:
        nonsense: list[Any] = [5, {"sea": 1}, [5], ["tea"], [{}], [{"type": 5}], [{"type": "synced", "revision": "7"}]]
        server = self.fake(*[
            lambda peer, call, events=events: peer.write({"parameters": {"events": events}, "continues": True})
            for events in nonsense
        ])
        driver = self.driver(server)
        for events in nonsense:
            with self.subTest(events):
                driver.do("watch", keys=["tea"])
                self.assertEqual(driver.do("next", count=1), {"error": "ProtocolError"})

    def test_a_call_without_an_answer_in_time_is_an_error_and_its_connection_is_closed(self) -> None:
        if self.client == "swift":
            self.skipTest("a program in Swift cancels the task")

        def silent(peer: Peer, call: Any) -> None:
            stay(peer)

        def begun(peer: Peer, call: Any) -> None:
            with contextlib.suppress(BrokenPipeError):  # the client may have given up before
                peer.write({"parameters": {"countdowns": [countdown()]}, "continues": True})
            stay(peer)

        server = self.fake(silent, silent, begun)
        driver = self.driver(server)
        self.assertEqual(driver.do("get", key="tea", timeoutUSec=10_000), {"error": "TimedOut"})
        self.assertEqual(driver.do("start", key="tea", timeoutUSec=10_000), {"error": "TimedOut"})
        self.assertEqual(driver.do("list", timeoutUSec=10_000), {"error": "TimedOut"})
        server.finish()

    def test_a_call_to_a_daemon_that_is_stopped_ends_with_an_error_and_may_be_made_later(self) -> None:
        if self.client == "swift":
            self.skipTest("a program in Swift cancels the task")
        daemon = self.daemon()
        assert daemon.process
        driver = self.driver(daemon)
        daemon.process.send_signal(signal.SIGSTOP)
        self.assertEqual(driver.do("start", key="tea", timeoutUSec=10_000), {"error": "TimedOut"})
        daemon.process.send_signal(signal.SIGCONT)
        self.assertIn(driver.do("get", key="tea").get("error"), [None, "NoSuchCountdown"])

    def test_a_call_that_waits_by_its_nature_has_no_timeout(self) -> None:
        def late(peer: Peer, call: Any) -> None:
            self.assertFalse(select.select([peer.socket], [], [], 0.1)[0], "the client has closed the connection")
            peer.write({"parameters": {"outcome": "started", "countdown": countdown()}})

        driver = self.driver(self.fake(late, late))
        self.assertEqual(driver.do("wait", key="tea", timeoutUSec=1000)["key"], "tea")
        self.assertEqual(driver.do("start", key="tea", ifRunning="wait", timeoutUSec=1000)["outcome"], "started")

    def test_a_call_that_is_longer_than_the_daemon_accepts_is_an_error_and_not_tried_again(self) -> None:
        driver = self.driver(self.daemon())
        long = "x" * 300_000
        self.assertEqual(driver.do("start", key="tea", label=long), {"error": "CallTooLong"})
        self.assertEqual(driver.do("wait", key=long), {"error": "CallTooLong"})
        driver.do("watch", keys=[long])
        self.assertEqual(driver.do("next", count=1), {"error": "CallTooLong"})
        self.assertEqual(driver.do("get", key="tea")["error"], "NoSuchCountdown")

    def test_a_call_that_the_daemon_could_not_read_is_an_error_and_not_tried_again(self) -> None:
        if self.client == "swift":
            self.skipTest("a String has whole characters, and no parameter is nested deeply")
        driver = self.driver(self.daemon())
        invalid = {"error": "InvalidCall"}
        for half in ("\ud83e", "Earl \udd58", "\udd58\ud83e"):
            self.assertEqual(driver.do("start", key=half), invalid)
            self.assertEqual(driver.do("start", key="tea", label=half), invalid)
            self.assertEqual(driver.do("start", key="tea", metadata={half: "a"}), invalid)
            self.assertEqual(driver.do("startAll", cooldowns=[{"key": "a"}, {"key": "b", "metadata": {"a": half}}]), invalid)
            for do in ("get", "wait", "cancel"):
                self.assertEqual(driver.do(do, key=half), invalid)
            self.assertEqual(driver.do("list", match=[half]), invalid)
            driver.do("watch", keys=["tea", half])
            self.assertEqual(driver.do("next", count=1), invalid)
        deep: Any = "leaf"
        for _ in range(100):
            deep = {"a": [deep]}
        self.assertEqual(driver.do("start", key="tea", metadata=deep), invalid)
        self.assertEqual(driver.do("get", key="tea")["error"], "NoSuchCountdown")

    # The address

    def test_the_socket_is_found_as_countdownctl_finds_it(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o700)
            in_folder = f"{folder}/countdownd/io.countdownd"
            for environment, expected in [
                ({"COUNTDOWND_SOCKET": "/a/b", "XDG_RUNTIME_DIR": folder}, {"path": "/a/b"}),
                ({"COUNTDOWND_SOCKET": "relative", "XDG_RUNTIME_DIR": folder}, {"path": "relative"}),
                ({"COUNTDOWND_SOCKET": "unix:/a/b", "XDG_RUNTIME_DIR": folder}, {"path": "/a/b"}),
                ({"COUNTDOWND_SOCKET": "unix:/a/b;mode=0600"}, {"path": "/a/b"}),
                ({"COUNTDOWND_SOCKET": "unix:"}, {"error": "AddressError"}),
                ({"COUNTDOWND_SOCKET": "unix:/" + "a" * 106}, {"path": "/" + "a" * 106}),
                ({"COUNTDOWND_SOCKET": "", "XDG_RUNTIME_DIR": folder}, {"path": in_folder}),
                ({"XDG_RUNTIME_DIR": folder}, {"path": in_folder}),
                ({"XDG_RUNTIME_DIR": f"{folder}/missing"}, {"error": "AddressError"}),
                ({"XDG_RUNTIME_DIR": __file__}, {"error": "AddressError"}),
                ({"COUNTDOWND_SOCKET": "/" + "a" * 107}, {"error": "AddressError"}),
                ({"COUNTDOWND_SOCKET": "/" + "é" * 53}, {"path": "/" + "é" * 53}),
                ({"COUNTDOWND_SOCKET": "/" + "é" * 54}, {"error": "AddressError"}),
            ]:
                with self.subTest(environment):
                    self.assertEqual(self.driver_in(environment).do("path"), expected)
            os.chmod(folder, 0o770)
            self.assertEqual(self.driver_in({"XDG_RUNTIME_DIR": folder}).do("path"), {"error": "AddressError"})
        user = f"/run/user/{os.getuid()}"
        if not os.path.exists(user):
            self.assertEqual(self.driver_in({"XDG_RUNTIME_DIR": "relative"}).do("path"), {"error": "AddressError"})

    # Watching

    def test_a_watch_reports_the_state_and_then_each_change(self) -> None:
        daemon = self.daemon()
        daemon.call("Start", key="tea", durationUSec=HOUR)
        driver = self.driver(daemon)
        driver.do("watch", keys=["tea"], tickUSec=0)
        self.assertEqual(driver.next()["type"], "attached")
        self.assertEqual(driver.next()["type"], "synced")
        daemon.call("Start", key="coffee")
        for method in ["Pause", "Resume", "Finish"]:
            daemon.call(method, key="tea")
        self.assertEqual(driver.next()["type"], "paused")
        self.assertEqual(driver.next()["type"], "resumed")
        end = driver.next()
        self.assertEqual((end["type"], end["remainingUSec"], end["lateUSec"]), ("finished", 0, 0))

    def test_ticks_arrive(self) -> None:
        daemon = self.daemon()
        daemon.call("Start", key="tea", durationUSec=HOUR)
        driver = self.driver(daemon)
        driver.do("watch", match=["t*"], tickUSec=100_000)
        self.assertEqual(driver.next_of("tick")["remainingUSec"] % 100_000, 0)

    def test_a_watch_resumes_after_a_restart_and_misses_no_end(self) -> None:
        for kill in [signal.SIGTERM, signal.SIGKILL]:
            with self.subTest(kill):
                daemon = self.daemon()
                driver = self.driver(daemon)
                driver.do("watch", tickUSec=0)
                self.assertEqual(driver.next()["type"], "synced")
                daemon.call("Start", key="tea", durationUSec=HOUR)
                self.assertEqual(driver.next()["type"], "started")
                daemon.stop(kill)
                self.assertEqual(driver.next(), {"type": "disconnected", "error": "Disconnected"})
                driver.send("next", count=1)
                daemon.start()
                daemon.call("Finish", key="tea")
                # If the watch is back before the end, it is reported after synced.
                seen = [driver.result()["type"], driver.next()["type"]]
                self.assertEqual(sorted(seen), ["finished", "synced"])
                daemon.call("Start", key="tea", durationUSec=HOUR)
                self.assertEqual(driver.next()["type"], "started")

    def test_an_end_that_came_while_nobody_listened_is_reported_once(self) -> None:
        daemon = self.daemon()
        driver = self.driver(daemon)
        driver.do("watch", tickUSec=0)
        driver.next_of("synced")
        daemon.call("Start", key="tea", durationUSec=HOUR)
        driver.next_of("started")
        daemon.call("Finish", key="tea")
        # The event was sent and perhaps received, but not asked for.
        daemon.restart(signal.SIGKILL)
        daemon.call("Start", key="last", durationUSec=HOUR)
        seen: list[Any] = []
        while not seen or seen[-1] not in [("started", "last"), ("attached", "last")]:
            event = driver.next()
            seen.append((event["type"], event.get("key")))
        self.assertEqual(seen.count(("finished", "tea")), 1, seen)

    def test_a_watch_waits_for_a_daemon_that_is_not_there_yet(self) -> None:
        daemon = self.daemon()
        daemon.stop()
        driver = self.driver(daemon)
        driver.do("watch")
        self.assertEqual(driver.next(), {"type": "disconnected", "error": "NoDaemon"})
        driver.send("next", count=1)
        daemon.start()
        self.assertEqual(driver.result()["type"], "synced")

    def test_a_watch_resumes_after_the_newest_revision_that_it_was_given(self) -> None:
        def first(peer: Peer, call: Any) -> None:
            self.assertNotIn("since", call)
            # Before synced, a revision says nothing.
            peer.events({"type": "attached", "revision": 90, "key": "tea", "remainingUSec": 1, "countdown": countdown()})

        def second(peer: Peer, call: Any) -> None:
            self.assertNotIn("since", call)
            peer.events({"type": "attached", "revision": 7, "key": "tea", "remainingUSec": 1, "countdown": countdown()})
            peer.events(synced(7), {"type": "tick", "key": "tea", "remainingUSec": 5})
            peer.events(finished("tea", 9), {"type": "heartbeat", "revision": 12})
            peer.events({"type": "adjusted", "key": "tea", "remainingUSec": 5, "countdown": countdown()})

        def third(peer: Peer, call: Any) -> None:
            self.assertEqual(call["since"], 12)
            peer.events(finished("tea", 13), synced(13))

        server = self.fake(first, second, third)
        driver = self.driver(server)
        driver.do("watch", keys=["tea"])
        types = [driver.next()["type"] for _ in range(11)]
        expected = "attached disconnected attached synced tick finished heartbeat adjusted disconnected finished synced"
        self.assertEqual(types, expected.split())
        server.finish()
        for call in server.calls:
            self.assertEqual(call["parameters"]["keys"], ["tea"])
            # So that since stays recent though the keys do not change.
            self.assertEqual(call["parameters"]["heartbeatUSec"], HOUR)

    def test_a_watch_can_begin_where_an_earlier_one_has_ended(self) -> None:
        daemon = self.daemon()
        daemon.call("Start", key="tea", durationUSec=HOUR)
        revision = daemon.call("Finish", key="tea")["countdown"]["revision"]
        driver = self.driver(daemon)
        driver.do("watch", since=revision - 1, tickUSec=0)
        self.assertEqual(driver.next()["type"], "finished")
        driver.do("watch", since=revision, tickUSec=0)
        self.assertEqual(driver.next()["type"], "synced")

    def test_if_the_history_is_gone_the_program_gets_the_state_and_the_names_of_what_is_no_longer_there(self) -> None:
        daemon = self.daemon()
        driver = self.driver(daemon)
        driver.do("watch", tickUSec=0)
        driver.next_of("synced")
        daemon.call("Start", key="old")
        driver.next_of("started")
        daemon.lose_store()
        daemon.start()
        daemon.call("Start", key="new")
        self.assertEqual(driver.next()["type"], "disconnected")
        self.assertEqual(driver.next(), {"type": "historyTrimmed", "error": "HistoryTrimmed"})
        attached = driver.next()
        self.assertEqual((attached["type"], attached["key"]), ("attached", "new"))
        self.assertEqual(driver.next(), {"type": "forgotten", "key": "old"})
        self.assertEqual(driver.next()["type"], "synced")

    def test_a_countdown_that_was_forgotten_while_the_watch_was_away_is_reported_once(self) -> None:
        def first(peer: Peer, call: Any) -> None:
            keys = ("bath", "egg", "tea", "toast")
            peer.events(*[{"type": "attached", "key": key, "remainingUSec": 9, "countdown": countdown(key)} for key in keys])
            peer.events(synced(7))

        def second(peer: Peer, call: Any) -> None:
            self.assertEqual(call["since"], 7)
            peer.events(finished("egg", 8), synced(9))
            asked.wait(PATIENCE)
            # Sent before the list is, so it is the end of toast.
            peer.events(finished("toast", 10))
            ended.set()
            stay(peer)

        def lists(peer: Peer, call: Any) -> None:
            asked.set()
            ended.wait(PATIENCE)
            for key, continues in (("bath", True), ("pasta", False)):
                peer.write({"parameters": {"countdowns": [countdown(key)]}, "continues": continues})

        asked, ended = threading.Event(), threading.Event()
        server = self.fake(first, second, lists)
        driver = self.driver(server)
        driver.do("watch", match=["*"], keys=["tea"])
        events = [driver.next() for _ in range(10)]
        self.assertEqual(
            [event["type"] for event in events],
            [*["attached"] * 4, "synced", "disconnected", "finished", "forgotten", "synced", "finished"],
        )
        self.assertEqual(events[-3], {"type": "forgotten", "key": "tea"})
        self.assertEqual(server.calls[2]["method"], "io.countdownd.List")
        self.assertEqual(server.calls[2]["parameters"], {"match": ["*"], "keys": ["tea"]})
        self.assertTrue(server.calls[2]["more"])
        driver.close()
        server.finish()

    def test_events_are_reported_once_though_the_countdowns_could_not_be_listed_at_first(self) -> None:
        def attached(key: str) -> dict[str, Any]:
            return {"type": "attached", "key": key, "remainingUSec": 9, "countdown": countdown(key)}

        def first(peer: Peer, call: Any) -> None:
            peer.events(attached("egg"), attached("tea"), synced(7))

        def resumed(peer: Peer, call: Any) -> None:
            self.assertEqual(call["since"], 7)
            peer.events(synced(8), finished("egg", 9))
            stay(peer)

        def resumed_again(peer: Peer, call: Any) -> None:
            # The end of egg is forgotten, too, and no event names it again.
            peer.events(synced(10))
            stay(peer)

        refuse = lambda peer, call: peer.write({"error": "io.countdownd.StorageFailed", "parameters": {"reason": "-"}})
        empty = lambda peer, call: peer.write({"parameters": {"countdowns": []}})
        server = self.fake(first, resumed, refuse, resumed_again, empty)
        driver = self.driver(server)
        driver.do("watch")
        events = [driver.next() for _ in range(7)]
        self.assertEqual(
            [event.get("key", event["type"]) for event in events],
            ["egg", "tea", "synced", "disconnected", "egg", "tea", "synced"],
        )
        self.assertEqual([event["type"] for event in events[4:]], ["forgotten", "forgotten", "synced"])
        driver.close()
        server.finish()

    def test_a_list_of_the_next_daemon_does_not_say_that_a_countdown_was_forgotten(self) -> None:
        def first(peer: Peer, call: Any) -> None:
            peer.events({"type": "attached", "key": "tea", "remainingUSec": 9, "countdown": countdown()}, synced(7))

        def resumed(peer: Peer, call: Any) -> None:
            peer.events(synced(7))
            asked.wait(PATIENCE)  # and then this daemon is killed

        def lists(peer: Peer, call: Any) -> None:
            asked.set()
            server.wait_for_end_of(1)
            peer.write({"parameters": {"countdowns": []}})

        def resumed_again(peer: Peer, call: Any) -> None:
            self.assertEqual(call["since"], 7)
            peer.events(finished("tea", 8), synced(8))
            stay(peer)

        asked = threading.Event()
        server = self.fake(first, resumed, lists, resumed_again)
        driver = self.driver(server)
        driver.do("watch")
        events = [driver.next() for _ in range(5)]
        self.assertEqual([event["type"] for event in events], ["attached", "synced", "disconnected", "finished", "synced"])
        driver.close()
        server.finish()

    def test_a_server_that_always_says_that_the_history_is_gone_is_asked_less_and_less_often(self) -> None:
        def trimmed(peer: Peer, call: Any) -> None:
            peer.write({"error": "io.countdownd.HistoryTrimmed", "parameters": {"oldestRevision": 5}})

        def recovered(peer: Peer, call: Any) -> None:
            peer.events(synced(8))

        server = self.fake(*[trimmed] * 4, recovered, trimmed, recovered)
        driver = self.driver(server)
        driver.do("watch", since=3)
        types = [driver.next()["type"] for _ in range(8)]
        self.assertEqual(types, ["historyTrimmed"] * 4 + ["synced", "disconnected", "historyTrimmed", "synced"])
        server.finish()
        self.assertEqual([call["parameters"].get("since") for call in server.calls], [3, None, None, None, None, 8, None])
        pauses = [later - earlier for earlier, later in zip(server.times, server.times[1:])]
        for pause, least in zip(pauses, [0, 0.1, 0.2, 0.4, 0, 0], strict=True):
            self.assertGreaterEqual(pause, least)

    def test_a_server_that_always_hangs_up_is_asked_less_and_less_often(self) -> None:
        server = self.fake(*[lambda peer, call: None] * 4, lambda peer, call: peer.events(synced(8)))
        driver = self.driver(server)
        driver.do("watch")
        self.assertEqual([driver.next()["type"] for _ in range(2)], ["disconnected", "synced"])
        pauses = [later - earlier for earlier, later in zip(server.times, server.times[1:])]
        for pause, least in zip(pauses, [0, 0.1, 0.2, 0.4], strict=True):
            self.assertGreaterEqual(pause, least)

    def test_a_daemon_without_room_or_its_store_or_its_fleet_is_asked_again(self) -> None:
        server = self.fake(
            lambda peer, call: peer.write(
                {"error": "io.countdownd.LimitReached", "parameters": {"limit": "connections", "maximum": 1}}
            ),
            *[
                lambda peer, call, name=name: peer.write({"error": f"io.countdownd.{name}", "parameters": {"reason": "-"}})
                for name in ("StorageFailed", "Unreachable")
            ],
            lambda peer, call: peer.events(synced(8)),
        )
        driver = self.driver(server)
        driver.do("watch")
        self.assertEqual(driver.next(), {"type": "disconnected", "error": "LimitReached"})
        self.assertEqual(driver.next()["type"], "synced")

    def test_waiting_goes_on_though_a_daemon_that_was_restarted_has_not_read_its_countdowns_yet(self) -> None:
        def opening(peer: Peer, call: Any) -> None:
            peer.write({"error": "io.countdownd.StorageFailed", "parameters": {"reason": "opening"}})

        ended = lambda peer, call: peer.write({"parameters": {"countdown": countdown()}})
        driver = self.driver(self.fake(opening, lambda peer, call: None, opening, ended))
        self.assertEqual(driver.do("wait", key="tea")["error"], "StorageFailed")
        self.assertEqual(driver.do("wait", key="tea")["key"], "tea")

    def test_a_watch_that_the_daemon_refuses_is_an_error(self) -> None:
        driver = self.driver(self.daemon())
        driver.do("watch", match=[""])
        self.assertEqual(driver.do("next", count=1)["parameter"], "match")
        driver.do("watch", match=["x"] * 65)
        self.assertEqual(driver.do("next", count=1)["class"], "LimitReached")

    def test_members_and_event_types_of_a_newer_daemon_do_no_harm(self) -> None:
        def answer(peer: Peer, call: Any) -> None:
            peer.write(
                {
                    "parameters": {"countdown": countdown(label="Earl", steeps=[{"a": None}]), "weather": {"sun": 1}},
                    "org.example.mood": "good",
                }
            )

        def watch(peer: Peer, call: Any) -> None:
            known = finished("tea", 9)
            known["flavour"] = {"of": ["tea"]}
            known["countdown"]["steeps"] = 3
            boiled = {"type": "boiled", "revision": 10, "key": "tea", "degrees": 99.5}
            peer.events(synced(7), {"type": "boiled", "key": "tea"})
            peer.events({"type": "boiled", "key": "tea"})
            peer.write({"parameters": {"events": [boiled, known], "weather": 1}, "continues": True})
            stay(peer)

        server = self.fake(answer, watch)
        driver = self.driver(server)
        self.assertEqual(driver.do("get", key="tea")["label"], "Earl")
        driver.do("watch", tickUSec=0)
        self.assertEqual(driver.next()["type"], "synced")
        self.assertEqual(driver.next_of("finished")["lateUSec"], 3)
        driver.close()
        server.finish()

    def test_a_reply_may_come_in_many_pieces_and_many_in_one(self) -> None:
        whole = json.dumps({"parameters": {"countdown": countdown(label="茶🫖")}}, ensure_ascii=False).encode() + b"\0"

        def cut(peer: Peer, call: Any) -> None:
            for byte in whole:
                peer.socket.sendall(bytes([byte]))

        def joined(peer: Peer, call: Any) -> None:
            replies = [[synced(7)], [finished("a", 8), finished("b", 9)], [], [finished("c", 10)]]
            text = b"".join(
                json.dumps({"parameters": {"events": events}, "continues": True}).encode() + b"\0" for events in replies
            )
            peer.socket.sendall(text[:-5])
            peer.socket.sendall(text[-5:])
            stay(peer)

        server = self.fake(cut, joined)
        driver = self.driver(server)
        self.assertEqual(driver.do("get", key="tea")["label"], "茶🫖")
        driver.do("watch", tickUSec=0)
        self.assertEqual([driver.next().get("key") for _ in range(4)], [None, "a", "b", "c"])

    def test_a_program_that_does_not_read_makes_the_daemon_wait_and_can_do_other_things(self) -> None:
        most = 64 << 20
        sent: list[int] = []
        full = threading.Event()

        def flood(peer: Peer, call: Any) -> None:
            peer.events(synced(7))
            tick = {"type": "tick", "key": "tea", "remainingUSec": 1}
            message = json.dumps({"parameters": {"events": [tick] * 500}, "continues": True}).encode() + b"\0"
            sent.append(peer.write_until_full(message, most))
            full.set()
            stay(peer)

        server = self.fake(flood, lambda peer, call: peer.write({"parameters": {"countdown": countdown()}}))
        driver = self.driver(server)
        driver.do("watch")
        driver.next_of("tick")
        self.assertTrue(full.wait(20))
        self.assertLess(sent[0], 4 << 20)
        self.assertEqual(driver.do("get", key="tea")["key"], "tea")
        driver.close()

    def test_a_program_that_does_not_read_is_disconnected_and_still_gets_every_end(self) -> None:
        daemon = self.daemon()
        driver = self.driver(daemon)
        driver.do("watch", tickUSec=0)
        driver.next_of("synced")
        keys = [f"key/{number}" for number in range(3000)]
        with daemon.connection() as peer:
            for key in keys:
                peer.write({"method": "io.countdownd.Start", "parameters": {"key": key, "label": "x" * 1000}})
                peer.write({"method": "io.countdownd.Finish", "parameters": {"key": key}})
                peer.read()
                peer.read()
        wait_until(lambda: daemon.call("GetStatus")["watchers"] == 0)
        ended: list[str] = []
        while len(ended) < len(keys):
            count = min(500, len(keys) - len(ended))
            driver.send("next", count=count)
            events = [driver.result() for _ in range(count)]
            ended += [event["key"] for event in events if event["type"] == "finished"]
        self.assertEqual(ended, keys)


def load_tests(loader: unittest.TestLoader, tests: unittest.TestSuite, pattern: str | None) -> unittest.TestSuite:
    chosen = os.environ.get("COUNTDOWND_CLIENTS", " ".join(DRIVERS)).split()
    suite = unittest.TestSuite()
    for client in chosen:
        suite.addTests(loader.loadTestsFromTestCase(type(client, (Scenarios,), {"client": client})))
    return suite


if __name__ == "__main__":
    unittest.main(verbosity=2)
