"""What the flags of kube-scheduler's HTTPS port do: certificates, TLS versions and ciphers, and the
pages that tell of flags, state and checks."""
import json
import os
import re
import socket
import ssl
import subprocess

import checks
from cases.serving import Served
from suite import case


def make_pair(directory, name):
    """A certificate for NAME that signs itself; its two files."""
    base = os.path.join(directory, name.replace("*", "any"))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3",
                    "-keyout", base + ".key", "-out", base + ".crt", "-subj", "/CN=" + name,
                    "-addext", "subjectAltName=DNS:" + name], check=True, capture_output=True)
    return base + ".crt", base + ".key"


def shake_hands(served, name=None, prepare=None):
    """(version, cipher, common name of the certificate), or the error as text."""
    context = ssl._create_unverified_context()
    if prepare:
        prepare(context)
    try:
        with socket.create_connection(("127.0.0.1", served.port), 10) as raw, \
                context.wrap_socket(raw, server_hostname=name) as tls:
            der = tls.getpeercert(binary_form=True)
            seen = subprocess.run(["openssl", "x509", "-inform", "der", "-noout", "-subject"],
                                  input=der, check=True, capture_output=True).stdout.decode()
            return tls.version(), tls.cipher()[0], re.search(r"CN *= *(\S+)", seen)[1]
    except (ssl.SSLError, ConnectionError) as error:
        return str(error), None, None


def at_most(version):
    def prepare(context):
        context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
        context.set_ciphers("DEFAULT@SECLEVEL=0")
        context.maximum_version = version
    return prepare


@case("tls-flags", "it is Go's")
def tls_flags(world):
    """--tls-min-version, --tls-cipher-suites, --tls-sni-cert-key and --cert-dir do what they say."""
    directory = os.path.join(world.directory, "tls")
    os.makedirs(directory)
    main, one, many = (make_pair(directory, n) for n in ("main.test", "one.test", "*.many.test"))
    served = Served(world, flags=[
        "--tls-cert-file=" + main[0], "--tls-private-key-file=" + main[1], "--tls-min-version=VersionTLS12",
        "--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,TLS_AES_256_GCM_SHA384",
        "--tls-sni-cert-key=%s,%s" % one,
        "--tls-sni-cert-key=%s,%s:*.more.test,one.test.more" % many]).ready()
    for name, shown in ((None, "main.test"), ("main.test", "main.test"), ("one.test", "one.test"),
                        ("a.many.test", "main.test"), ("a.more.test", "*.many.test"),
                        ("one.test.more", "*.many.test"), ("else.test", "main.test")):
        got = shake_hands(served, name)
        checks.expect(got[2] == shown, "for %s the certificate of %s is shown: %s", name, shown, got)
    got = shake_hands(served, prepare=at_most(ssl.TLSVersion.TLSv1_2))
    checks.expect(got[:2] == ("TLSv1.2", "ECDHE-RSA-AES256-GCM-SHA384"), "TLS 1.2: %s", got)
    got = shake_hands(served, prepare=at_most(ssl.TLSVersion.TLSv1_1))
    checks.expect(got[1] is None, "TLS 1.1 is spoken: %s", got)

    def small(context):
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers("ECDHE-RSA-AES128-GCM-SHA256")
    got = shake_hands(served, prepare=small)
    checks.expect(got[1] is None, "a cipher that is not named is spoken: %s", got)


@case("tls-versions", "it is Go's")
def tls_versions(world):
    """The least version of TLS, and a certificate that is made once and kept."""
    kept = os.path.join(world.directory, "kept")
    for least, spoken, refused in (("VersionTLS10", ssl.TLSVersion.TLSv1_1, None),
                                   ("VersionTLS13", None, ssl.TLSVersion.TLSv1_2)):
        served = Served(world, name=least, flags=["--tls-min-version=" + least, "--cert-dir=" + kept])
        checks.wait_until(30, lambda: served.get("/livez").status == 200, "never alive")
        got = shake_hands(served, prepare=at_most(spoken) if spoken else None)
        checks.expect(got[0] == ("TLSv1.1" if spoken else "TLSv1.3"), "%s: %s", least, got)
        if refused:
            got = shake_hands(served, prepare=at_most(refused))
            checks.expect(got[1] is None, "%s: %s", least, got)
        pair = [open(os.path.join(kept, "kube-scheduler." + end)).read() for end in ("crt", "key")]
        shown = ssl.get_server_certificate(("127.0.0.1", served.port))
        checks.expect(shown.split() == pair[0].split(), "%s: another certificate than the kept one", least)
        served.subject.stop()
    os.unlink(os.path.join(kept, "kube-scheduler.key"))
    served = Served(world, name="half", flags=["--cert-dir=" + kept])
    checks.wait_until(30, lambda: any("must be there as a pair" in line
                                      for line in served.subject.log_lines()), "half a pair is taken")


@case("zpages-off")
def zpages_off(world):
    """Their feature gates take the pages away, each its own."""
    served = Served(world, flags=["--feature-gates=ComponentFlagz=false"]).ready()
    statuses = [served.get(path).status for path in ("/flagz", "/statusz", "/configz")]
    checks.expect(statuses == [404, 200, 200], "answered with %s", statuses)


@case("zpages")
def zpages(world):
    """/flagz, /statusz and /metrics/slis; where the real kube-scheduler is, its flags are all there."""
    served = Served(world, flags=["--disabled-metrics=scheduler_pending_pods",
                                  "--authorization-always-allow-paths=/healthz,/readyz,/livez"]).ready()
    flags = flags_of(served)
    page = served.get("/flagz")  # upstream puts a name and its value apart in one way or another
    checks.expect(page.text.startswith("\nkube-scheduler flagz\nWarning: This endpoint")
                  and [re.match(r"[\w-]+", line)[0] for line in page.text.splitlines()[3:]]
                  == sorted(flags), "%s", page)
    for name, value in (("secure-port", str(served.port)), ("bind-address", "127.0.0.1"),
                        ("disabled-metrics", "[scheduler_pending_pods]"), ("v", "0"),
                        ("authorization-always-allow-paths", "[/healthz,/readyz,/livez]"),
                        ("leader-elect-lease-duration", "15s")):
        checks.expect(flags.get(name) == value, "%s is %s, not %s", name, flags.get(name), value)
    page = served.get("/statusz")
    checks.expect(re.search(r"^Emulation version\W+1\.36$", page.text, re.M)
                  and re.search(r"^Paths\W+/configz /flagz /healthz /livez /metrics /readyz$", page.text, re.M),
                  "/statusz: %s", page)
    checks.expect(served.get("/flagz", user="nobody").status == (200 if world.options.api == "small"
                                                                else 403), "nobody sees /flagz")
    page = served.get("/metrics/slis")
    for line in ('kubernetes_healthcheck{name="leaderElection",type="readyz"} 1',
                 'kubernetes_healthcheck{name="shutdown",type="readyz"} 1',
                 '# TYPE kubernetes_healthchecks_total counter'):
        checks.expect(line in page.text.splitlines(), "no %s in %s", line, page)
    if "{rundir}" in world.options.scheduler:
        samples = served.samples()
        checks.expect(not [n for n in samples if n.startswith("scheduler_pending_pods")]
                      and samples["disabled_metrics_total"] == 1, "a disabled metric is shown")
    if world.options.api == "real" and world.reference():
        compare_pages(world, served, flags)


def flags_of(served):
    accept = "application/json;v=v1beta1;g=config.k8s.io;as=Flagz"
    return json.loads(served.get("/flagz", accept=accept).text)["flags"]


def compare_pages(world, served, flags):
    theirs = Served(world, name="theirs", template=world.reference()).ready()
    names = set(flags_of(theirs))
    checks.expect(len(names) > 50 and names <= set(flags), "flags that are not on our page: %s of %d",
                  sorted(names - set(flags)), len(names))
    for path, kind in (("/flagz", "Flagz"), ("/statusz", "Statusz")):
        for version in ("v1alpha1", "v1beta1"):
            accept = "application/json;v=%s;g=config.k8s.io;as=%s" % (version, kind)
            got = [json.loads(s.get(path, accept=accept).text) for s in (theirs, served)]
            same = [{k: v for k, v in page.items() if k in ("kind", "apiVersion")} for page in got]
            checks.expect(same[0] == same[1] and set(got[0]) <= set(got[1]), "%s %s: %s", path,
                          version, [sorted(page) for page in got])
        status = [s.get(path, accept="application/json").status for s in (theirs, served)]
        checks.expect(status[0] == status[1], "%s as plain JSON: %s", path, status)
