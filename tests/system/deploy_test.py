"""The units and manifests of deploy/: their command lines run here as they stand, but for what systemd
and Kubernetes put in, and members that are all killed come back with them."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import kv_test
from support import WATCHDOG, free_ports, wait_until

try:
    import yaml
except ImportError:
    yaml = None

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
PROGRAM = "/usr/local/bin/tutti-kv"


class DeployTest(kv_test.KeyValueStoreTest):
    """Command lines of members a, b and c, and of what is done once."""

    def expect_that_it_survives(self, bootstrap, words, clients):
        """`words`: by member, as `clients`, their ports."""
        done = subprocess.run([kv_test.KV, *bootstrap], capture_output=True, text=True,
                              timeout=WATCHDOG, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for life in range(3):
            stores = []
            for name in words:
                store = kv_test.Store(words[name][0], words[name][1], self.folder,
                                      *words[name][2:])
                self.addCleanup(store.end)
                stores.append(store)
            for store in stores:
                wait_until(lambda s=store: "ready" in s.lines() or s.process.poll() is not None,
                           "ready")
                self.assertIsNone(store.process.poll(), store.lines())
            for name, port in clients.items():
                client = kv_test.Client(port)
                if life > 0:
                    self.assertEqual(client.ask(f"get {name}"), f"in life {life - 1}")
                self.assertEqual(client.ask(f"set {name} in life {life}").split(",")[0], "ok")
                client.end()
            for store in stores:
                store.process.kill()
            for store in stores:
                store.process.wait(WATCHDOG)


def unit(name):
    """Its sections, each a dictionary of lists."""
    sections = {}
    for line in (DEPLOY / "systemd" / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = sections.setdefault(line.strip("[]"), {})
        elif line and line[0] not in "#;":
            key, value = line.split("=", 1)
            section.setdefault(key, []).append(value)
    return sections


class Systemd(DeployTest):
    def words_of(self, name, member, port):
        """What systemd would start."""
        service = unit(name)["Service"]
        self.assertEqual(service["StateDirectory"], ["tutti-kv/%i"])
        self.assertEqual(service["StateDirectoryMode"], ["0700"])
        lib = os.path.join(self.folder, "lib")
        os.makedirs(os.path.join(lib, "tutti-kv", member), mode=0o700, exist_ok=True)
        program, *words = service["ExecStart"][0].split()
        self.assertEqual(program, PROGRAM)
        put_in = {"%i": member, "%S": lib, "${MEMBERS}": self.addresses, "${CLIENT_PORT}": str(port)}
        for what, value in put_in.items():
            words = [word.replace(what, value) for word in words]
        self.assertFalse([word for word in words if "%" in word or "$" in word], words)
        return words

    def test_the_command_line_of_the_unit_survives_that_all_are_killed(self):
        clients = dict(zip("abc", free_ports(3)))
        self.expect_that_it_survives(
            self.words_of("tutti-kv-bootstrap@.service", "a", clients["a"]),
            {name: self.words_of("tutti-kv@.service", name, port)
             for name, port in clients.items()}, clients)

    def test_the_environment_has_what_the_units_ask_for(self):
        text = (DEPLOY / "systemd/tutti-kv.env").read_text(encoding="utf-8")
        given = set(re.findall(r"^(\w+)=", text, re.M))
        for name in ("tutti-kv@.service", "tutti-kv-bootstrap@.service"):
            service = unit(name)["Service"]
            self.assertEqual(service["EnvironmentFile"], ["/etc/tutti-kv.env"])
            self.assertLessEqual(set(re.findall(r"\$\{(\w+)\}", service["ExecStart"][0])), given)

    def test_it_starts_again_whatever_happens(self):
        sections = unit("tutti-kv@.service")
        self.assertEqual(sections["Service"]["Restart"], ["always"])
        self.assertEqual(sections["Unit"]["StartLimitIntervalSec"], ["0"])
        self.assertEqual(sections["Install"]["WantedBy"], ["multi-user.target"])

    def verify(self, name, text):
        path = os.path.join(tempfile.mkdtemp(dir=self.folder), name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(PROGRAM, "/bin/true"))
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", path], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=WATCHDOG,
                              check=False)
        return done.stdout

    @unittest.skipUnless(shutil.which("systemd-analyze"), "there is no systemd-analyze")
    def test_systemd_knows_all_that_the_units_say(self):
        for name in ("tutti-kv@.service", "tutti-kv-bootstrap@.service"):
            with self.subTest(unit=name):
                text = (DEPLOY / "systemd" / name).read_text(encoding="utf-8")
                self.assertEqual(self.verify(name, text), "")
                wrong = self.verify(name, text.replace("ProtectHome=", "ProtectHouse="))
                self.assertIn("ProtectHouse", wrong)


@unittest.skipIf(yaml is None, "Python has no yaml: install the section [deploy] of packages.txt")
class Kubernetes(DeployTest):
    def setUp(self):
        super().setUp()
        self.objects = self.objects_of("kv.yaml")
        self.once = self.objects_of("kv-bootstrap.yaml")

    @staticmethod
    def objects_of(name):
        with open(DEPLOY / "kubernetes" / name, encoding="utf-8") as file:
            return {(one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(file)}

    def stateful_set(self):
        return self.objects["StatefulSet", "kv"]["spec"]

    def container(self):
        return self.stateful_set()["template"]["spec"]["containers"][0]

    def job(self):
        return self.once["Job", "kv-bootstrap"]["spec"]["template"]["spec"]

    def names(self):
        return [f"kv-{i}" for i in range(self.stateful_set()["replicas"])]

    def test_kinds_have_their_versions(self):
        versions = {"Service": "v1", "PersistentVolumeClaim": "v1", "Job": "batch/v1",
                    "PodDisruptionBudget": "policy/v1", "StatefulSet": "apps/v1"}
        for (kind, _), one in {**self.objects, **self.once}.items():
            self.assertEqual(one["apiVersion"], versions[kind])

    def test_members_have_names_before_they_are_ready_and_start_together(self):
        spec = self.stateful_set()
        self.assertEqual(spec["podManagementPolicy"], "Parallel")
        service = self.objects["Service", spec["serviceName"]]["spec"]
        self.assertEqual(service["clusterIP"], "None")
        self.assertTrue(service["publishNotReadyAddresses"])
        labels = spec["template"]["metadata"]["labels"]
        self.assertEqual(spec["selector"]["matchLabels"], labels)
        for kind, name in (("Service", "kv"), ("Service", "kv-clients")):
            self.assertEqual(self.objects[kind, name]["spec"]["selector"], labels)
        budget = self.objects["PodDisruptionBudget", "kv"]["spec"]
        self.assertEqual(budget["selector"]["matchLabels"], labels)

    def test_the_list_of_members_is_that_of_the_pods(self):
        ports = {port["name"]: port["containerPort"] for port in self.container()["ports"]}
        wanted = ",".join(f"{name}={name}.kv:{ports['members']}" for name in self.names())
        for container in (self.container(), self.job()["containers"][0]):
            self.assertEqual(container["command"], ["tutti-kv"])
            self.assertEqual(container["args"][1], wanted)
        self.assertEqual(self.container()["args"][-2:], ["--listen", str(ports["clients"])])
        self.assertEqual(self.container()["readinessProbe"]["tcpSocket"]["port"], "clients")
        self.assertEqual(self.objects["Service", "kv-clients"]["spec"]["ports"][0]["targetPort"],
                         "clients")

    def test_the_disk_of_the_first_member_is_the_one_where_it_is_said_once(self):
        claim = self.stateful_set()["volumeClaimTemplates"][0]
        name = f"{claim['metadata']['name']}-{self.names()[0]}"
        self.assertEqual(self.once["PersistentVolumeClaim", name]["spec"], claim["spec"])
        self.assertEqual(self.job()["volumes"][0]["persistentVolumeClaim"]["claimName"], name)
        self.assertEqual(self.job()["containers"][0]["args"][0], self.names()[0])
        for container in (self.container(), self.job()["containers"][0]):
            mount = container["volumeMounts"][0]["mountPath"]
            place = container["args"][container["args"].index("--state-dir") + 1]
            self.assertTrue(place.startswith(mount + "/"), place)

    def test_nothing_runs_as_root_or_writes_elsewhere(self):
        for pod in (self.stateful_set()["template"]["spec"], self.job()):
            self.assertTrue(pod["securityContext"]["runAsNonRoot"])
            self.assertEqual(pod["securityContext"]["fsGroup"],
                             pod["securityContext"]["runAsUser"])
            limits = pod["containers"][0]["securityContext"]
            self.assertEqual(limits, {"allowPrivilegeEscalation": False,
                                      "readOnlyRootFilesystem": True,
                                      "capabilities": {"drop": ["ALL"]}})

    def test_the_command_line_of_the_pods_survives_that_all_are_killed(self):
        names = self.names()
        members = ",".join(f"{name}=127.0.0.1:{port}"
                           for name, port in zip(names, free_ports(len(names))))
        clients = dict(zip(names, free_ports(len(names))))

        def words(container, name):
            disk = os.path.join(self.folder, f"data-{name}")
            out = [word.replace("$(POD_NAME)", name).replace("/data/", disk + "/")
                   for word in container["args"]]
            out[1] = members
            if "--listen" in out:
                out[out.index("--listen") + 1] = str(clients[name])
            return out

        self.expect_that_it_survives(words(self.job()["containers"][0], names[0]),
                                     {name: words(self.container(), name) for name in names},
                                     clients)


if __name__ == "__main__":
    unittest.main()
