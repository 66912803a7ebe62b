"""Expressions at random, from a seed: typed most of the time, so that many of them compile, with a
wrong kind here and there. Maps that are walked have one entry, because upstream's order is random."""
import random

STRINGS = ['""', '"a"', '"abc"', '"b"', '"zz"', '"H100"', '"a-b-c"', '"1.2.3"', '"40Gi"', '"é"', '"foo bar"', '"7"', '"x\\n"',
           "'o'", 'r"\\d"', '"true"', '" pad "']
QUANTITIES = ['"40Gi"', '"500m"', '"3"', '"1Pi"', '"1.5Gi"', '"0"', '"-2"', '"1e3"', '"12E"', '"1n"', '"1000m"', '"0.5"',
              '"9223372036854775807"', '"1x"', '""', '"999999999999999999999"', '"1.1e-12"', '"8Ei"', '".5Ki"', '"1e30"']
VERSIONS = ['"1.2.3"', '"1.2.3-rc.1"', '"0.0.1"', '"550.54.15"', '"1.2"', '"v1.2.3"', '"1.2.3+b.1"', '"1.2.3-rc.10"', '"01.2.3"',
            '"1.2.3-a.b-c"', '"2.0.0-1"', '"1.2.3-"']
PATTERNS = ['"a"', '"^a.c$"', '"[^a]?b"', '"(a|b)+"', '"a{2,3}"', '"\\\\d+"', '"\\\\bfoo\\\\b"', '"(?i)ABC"', '"x*"', '"("',
            '"[[:alpha:]]+"', '"a**"', '"."', '"[a-"', '"(a*)*b"', '"^$"', '"a|"', '"[^\\\\w-]"', '"(?P<n>z)z"', '"a+?"', '"o{0}"',
            '"\\\\Qa.c\\\\E"', '"\\\\x61"', '"(?s)a.*c"', '"b??c"',
            '"\\\\pL+"', '"(?i)\\\\p{Lu}"', '"[^\\\\p{Greek}a-c]"', '"\\\\PN"', '"\\\\p{no}"', '"(?i)[k-s]"', '"a(?U)+"', '"(?U)a*?b"']
DURATIONS = ['"1s"', '"1h30m"', '"-1.5s"', '"0"', '"1ns"', '"2562047h47m16.854775807s"', '"1.000001ms"', '"x"', '"1d"', '"90m"', '".5h"',
             '"-2562047h47m16.854775808s"', '"1us1µs"']
STAMPS = ['"2023-01-01T00:00:00Z"', '"2024-02-29T23:59:59.999999999Z"', '"0001-01-01T00:00:00Z"', '"9999-12-31T23:59:59Z"', '"1969-12-31T1:02:03,5-07:30"',
          '"2023-02-29T00:00:00Z"', '"2000-12-31T12:00:00+14:00"', '"now"', "0", "-1", "253402300799", "1700000000"]
ZONES = ['', '', '', '"UTC"', '"+05:30"', '"-11:45"', '"1:60"', '"x:0"', '""']
ADDRESSES = ['"1.2.3.4"', '"10.0.0.1"', '"127.0.0.1"', '"255.255.255.255"', '"0.0.0.0"', '"224.0.0.1"', '"169.254.0.9"', '"::1"', '"::"', '"fe80::1"',
             '"2001:DB8::8:0:0:1"', '"1:0:0:2:0:0:0:3"', '"ff02::2"', '"::ffff:1.2.3.4"', '"1.2.3"', '"1.2.3.04"', '"::1%lo"', '"64:ff9b::1.2.3.4"', '"x"']
NETWORKS = ['"1.2.3.4/16"', '"10.0.0.0/8"', '"0.0.0.0/0"', '"::/0"', '"2001:db8::/31"', '"1.2.3.4/32"', '"fe80::1/64"', '"1.2.3.4/33"', '"1.2.3.4/08"', '"x"',
            '"127.0.0.0/7"', '"::1/127"']
URLS = ['"http://u:p@h.x:80/a b?k=1&k=%41#f"', '"/x%2fy"', '"mailto:a@b"', '"https://[::1]:443/"', '"x"', '"//h/"', '"http://h:x/"', '"http://a%20b/"', '"*"', '"file:///é"']
FORMATS = ["dns1123Label", "dns1123Subdomain", "dns1035Label", "qualifiedName", "dns1123LabelPrefix", "dns1123SubdomainPrefix", "dns1035LabelPrefix", "labelValue",
           "uri", "uuid", "byte", "date", "datetime", "none"]
NAMES = ['"a"', '"i"', '"s"', '"v"', '"nope"', '"m"', '"h"', '"model"']
DOMAINS = ['"d.x"', '"o.x"', '"gpu.example.com"', '"none"']


class Maker:
    def __init__(self, r):
        self.r = r
        self.scope = []

    def pick(self, *options):
        return self.r.choice(options)

    def attribute(self):
        domain, name = self.r.choice(DOMAINS[:1] * 4 + DOMAINS), self.r.choice(NAMES)
        if self.r.random() < 0.5:
            return "device.attributes[%s].%s" % (domain, name.strip('"'))
        return "device.attributes[%s][%s]" % (domain, name)

    def value(self, kind, depth):
        r = self.r
        if r.random() < 0.03:
            kind = r.choice(["bool", "int", "string", "ints", "quantity", "uint", "double", "any"])
        known = [n for n, k in self.scope if k == kind]
        if known and r.random() < 0.35:
            return r.choice(known)
        if kind != "any" and r.random() < 0.12:
            return self.attribute()
        return getattr(self, kind)(depth - 1)

    def any(self, depth):
        return self.attribute()

    def listed(self, d):
        """What may be asked of an attribute that is a list."""
        r, at, x = self.r, self.attribute(), "x%d" % len(self.scope)
        kind = r.choice(["int", "string"])
        item = self.value(kind, d)
        self.scope.append((x, "any"))
        test = self.value("bool", d)
        self.scope.pop()
        return r.choice(["%s.includes(%s)" % (at, item), "%s in %s" % (item, at), "%s.%s(%s, %s)" % (at, r.choice(["all", "exists", "exists_one"]), x, test),
                         "%s.filter(%s, %s).size() > 1" % (at, x, test), "sets.%s(%s, [%s])" % (r.choice(["contains", "intersects"]), at, item),
                         "%s[%s] == %s" % (at, self.value("int", 1), item), "%s.size() == 3" % at, "%s + %s == [%s]" % (at, at, item)])

    def bool(self, d):
        v, r = self.value, self.r
        if d <= 0:
            return r.choice(["true", "false", 'device.driver == "d.x"', "device.allowMultipleAllocations",
                             'device.attributes["d.x"].a'])
        n = r.randrange(44)
        if n >= 42:
            return self.listed(d - 1)
        if n < 4:
            return "(%s %s %s)" % (v("bool", d), r.choice(["&&", "||"]), v("bool", d))
        if n < 5:
            return "!%s" % self.paren(v("bool", d))
        if n < 9:
            kind = r.choice(["int", "uint", "double", "string", "any"])
            other = kind if r.random() < 0.8 else r.choice(["int", "uint", "double"])
            return "%s %s %s" % (self.paren(v(kind, d)), r.choice(["<", "<=", ">", ">=", "==", "!="]), self.paren(v(other, d)))
        if n < 11:
            kind = r.choice(["ints", "strings", "quantity", "semver", "map", "optional", "bytes"])
            return "%s %s %s" % (self.paren(v(kind, d)), r.choice(["==", "!="]), self.paren(v(kind, d)))
        if n < 13:
            kind = r.choice(["int", "string"])
            return "%s in %s" % (self.paren(v(kind, d)), v(kind + "s", d))
        if n < 14:
            return "%s in %s" % (v("string", d), self.pick("device.attributes", 'device.attributes["d.x"]', v("map", d)))
        if n < 17:
            kind = r.choice(["int", "string"])
            x = "x%d" % len(self.scope)
            over = v(kind + "s", d)
            self.scope.append((x, kind))
            text = "%s.%s(%s, %s)" % (self.paren(over), r.choice(["all", "exists", "exists_one"]), x, v("bool", d))
            self.scope.pop()
            return text
        if n < 18:
            i, x = "i%d" % len(self.scope), "x%d" % len(self.scope)
            over = v("ints", d)
            self.scope += [(i, "int"), (x, "int")]
            text = "%s.%s(%s, %s, %s)" % (self.paren(over), r.choice(["all", "exists", "existsOne"]), i, x, v("bool", d))
            self.scope[-2:] = []
            return text
        if n < 20:
            return "%s.%s(%s)" % (self.paren(v("string", d)), r.choice(["startsWith", "endsWith", "contains"]), v("string", d))
        if n < 21:
            return "%s.matches(%s)" % (self.paren(v("string", d)), r.choice(PATTERNS))
        if n < 24:
            kind = r.choice(["quantity", "semver"])
            return "%s.%s(%s)" % (v(kind, d), r.choice(["isGreaterThan", "isLessThan"]), v(kind, d))
        if n < 25:
            return r.choice(["isQuantity(%s)" % r.choice(QUANTITIES), "isSemver(%s)" % r.choice(VERSIONS),
                             "isSemver(%s, true)" % r.choice(VERSIONS), "%s.isInteger()" % v("quantity", d)])
        if n < 26:
            return "has(device.attributes[%s].%s)" % (r.choice(DOMAINS), r.choice(NAMES).strip('"'))
        if n < 27:
            return "(%s ? %s : %s)" % (v("bool", d), v("bool", d), v("bool", d))
        if n < 28:
            return "%s.hasValue()" % self.paren(v("optional", d))
        if n < 29:
            x = "b%d" % len(self.scope)
            kind = r.choice(["int", "string", "any", "ints"])
            init = v(kind, d)
            self.scope.append((x, kind))
            text = "cel.bind(%s, %s, %s)" % (x, init, v("bool", d))
            self.scope.pop()
            return text
        if n < 30:
            return "%s.isSorted()" % v(r.choice(["ints", "strings"]), d)
        if n < 31:
            return "sets.%s(%s, %s)" % (r.choice(["contains", "equivalent", "intersects"]), v("ints", d), v("ints", d))
        if n < 32:
            return "type(%s) == %s" % (v(r.choice(["int", "string", "ints", "any", "quantity"]), d),
                                       r.choice(["int", "string", "list", "bool", "kubernetes.Semver"]))
        if n < 33:
            return "bool(%s)" % v(r.choice(["string", "bool"]), d)
        if n < 35:
            return "isIP(%s)" % v("string", 1) if r.random() < 0.3 else "%s(%s)" % (r.choice(["isIP", "isCIDR", "ip.isCanonical"]), r.choice(ADDRESSES + NETWORKS))
        if n < 36:
            return "%s.%s()" % (v("ip", d), r.choice(["isUnspecified", "isLoopback", "isLinkLocalMulticast", "isLinkLocalUnicast", "isGlobalUnicast"]))
        if n < 37:
            return r.choice(["%s.containsIP(%s)" % (v("cidr", d), v("ip", d)), "%s.containsIP(%s)" % (v("cidr", d), r.choice(ADDRESSES)),
                             "%s.containsCIDR(%s)" % (v("cidr", d), v("cidr", d)), "%s.containsCIDR(%s)" % (v("cidr", d), r.choice(NETWORKS))])
        if n < 40:
            kind = r.choice(["duration", "timestamp", "ip", "cidr", "url"])
            return "%s %s %s" % (v(kind, d), r.choice(["==", "!="] if kind in ("ip", "cidr", "url") else ["<", "<=", ">", ">=", "==", "!="]), v(kind, d))
        if n < 41:
            return r.choice(["format.%s().validate(%s).hasValue()" % (r.choice(FORMATS), v("string", d)),
                             "format.named(%s).hasValue()" % v("string", 1), "isURL(%s)" % r.choice(URLS + ADDRESSES)])
        return self.attribute()

    def duration(self, d):
        r, v = self.r, self.value
        if d <= 0 or r.random() < 0.4:
            return "duration(%s)" % r.choice(DURATIONS)
        return r.choice(["(%s %s %s)" % (v("duration", d), r.choice("+-"), v("duration", d)), "(%s - %s)" % (v("timestamp", d), v("timestamp", d)),
                         "duration(%s)" % v("string", d), "(-%s)" % v("duration", d), "[%s, %s].%s()" % (v("duration", d), v("duration", d), r.choice(["min", "max", "sum"]))])

    def timestamp(self, d):
        r, v = self.r, self.value
        if d <= 0 or r.random() < 0.5:
            return "timestamp(%s)" % r.choice(STAMPS)
        return r.choice(["(%s %s %s)" % (v("timestamp", d), r.choice("+-"), v("duration", d)), "(%s + %s)" % (v("duration", d), v("timestamp", d)),
                         "timestamp(%s)" % v("int", d), "[%s, %s].%s()" % (v("timestamp", d), v("timestamp", d), r.choice(["min", "max"]))])

    def ip(self, d):
        return "ip(%s)" % self.r.choice(ADDRESSES) if self.r.random() < 0.7 else "%s.ip()" % self.value("cidr", d)

    def cidr(self, d):
        return "cidr(%s)" % self.r.choice(NETWORKS) if self.r.random() < 0.7 else "%s.masked()" % self.value("cidr", d)

    def url(self, d):
        return "url(%s)" % self.r.choice(URLS)

    def field(self, d):
        r = self.r
        if r.random() < 0.4:
            return "%s.get%s()" % (self.value("duration", d), r.choice(["Hours", "Minutes", "Seconds", "Milliseconds"]))
        return "%s.get%s(%s)" % (self.value("timestamp", d), r.choice(["FullYear", "Month", "Date", "DayOfMonth", "DayOfWeek", "DayOfYear", "Hours", "Minutes", "Seconds",
                                                                      "Milliseconds"]), r.choice(ZONES))

    def formatted(self, d):
        r = self.r
        clauses, args = [], []
        for _ in range(r.randrange(4)):
            clauses.append(r.choice(["%s", "%s", "%d", "%x", "%X", "%o", "%b", "%f", "%.1f", "%e", "%.2e", "%%", "a"]))
            if clauses[-1][-1] not in "%a":
                kind = {"s": r.choice(["string", "int", "bool", "ints", "map", "duration", "timestamp", "double", "quantity"]), "d": "int", "x": "string", "X": "int", "o": "uint",
                        "b": "bool", "f": "double", "e": "double"}[clauses[-1][-1]]
                args.append(self.value(kind, d - 1))
        if r.random() < 0.05:
            args.append("1")
        items = "[%s]" % ", ".join(args)
        return '"%s".format(%s)' % ("|".join(clauses), items if r.random() < 0.7 else "[%s][0]" % items)

    def paren(self, text):
        return text if text.replace("_", "a").replace(".", "a").isalnum() else "(%s)" % text

    def int(self, d):
        v, r = self.value, self.r
        if d <= 0:
            return r.choice(["0", "1", "2", "-1", "7", "100", "9223372036854775807", "-9223372036854775808", "0x10",
                             'device.attributes["d.x"].i'])
        n = r.randrange(16)
        if n >= 14:
            return r.choice([self.field(d), self.field(d), "int(%s)" % v(r.choice(["duration", "timestamp"]), d), "%s.prefixLength()" % v("cidr", d),
                             "%s.family()" % v("ip", d)])
        if n < 4:
            return "%s %s %s" % (self.paren(v("int", d)), r.choice("+-*/%"), self.paren(v("int", d)))
        if n < 5:
            return "-%s" % self.paren(v("int", d))
        if n < 7:
            return "%s.size()" % self.paren(v(r.choice(["string", "ints", "strings", "map"]), d))
        if n < 8:
            return "int(%s)" % v(r.choice(["string", "uint", "double", "int"]), d)
        if n < 9:
            return "%s.%s(%s)" % (self.paren(v("string", d)), r.choice(["indexOf", "lastIndexOf"]), v("string", d))
        if n < 10:
            return "%s.%s()" % (v("ints", d), r.choice(["sum", "min", "max"]))
        if n < 11:
            return r.choice(["%s.asInteger()" % v("quantity", d), "%s.compareTo(%s)" % (v("quantity", d), v("quantity", d)),
                             "sign(%s)" % v("quantity", d), "%s.major()" % v("semver", d), "%s.patch()" % v("semver", d)])
        if n < 12:
            return "%s[%s]" % (self.paren(v("ints", d)), v(r.choice(["int", "uint", "double"]), d))
        if n < 13:
            return "(%s ? %s : %s)" % (v("bool", d), v("int", d), v("int", d))
        return "%s.orValue(%s)" % (self.paren(v("optional", d)), v("int", d))

    def uint(self, d):
        if d <= 0:
            return self.pick("0u", "1u", "7u", "18446744073709551615u")
        return self.pick("uint(%s)" % self.value(self.pick("int", "double", "string"), d),
                         "%s %s %s" % (self.paren(self.value("uint", d)), self.r.choice("+-*/%"), self.paren(self.value("uint", d))))

    def double(self, d):
        if d <= 0:
            return self.pick("0.0", "1.5", "-2.5e3", "7.0", "1e300", ".5")
        return self.pick("double(%s)" % self.value(self.pick("int", "uint", "string"), d),
                         "%s.asApproximateFloat()" % self.value("quantity", d),
                         "%s %s %s" % (self.paren(self.value("double", d)), self.r.choice("+-*/"), self.paren(self.value("double", d))))

    def string(self, d):
        v, r = self.value, self.r
        if d <= 0:
            return r.choice(STRINGS + ['device.driver', 'device.attributes["d.x"].s'])
        n = r.randrange(18)
        if n >= 15:
            return r.choice([self.formatted(d), self.formatted(d), "string(%s)" % v(r.choice(["duration", "timestamp", "ip", "cidr"]), d),
                             "%s.get%s()" % (v("url", d), r.choice(["Scheme", "Host", "Hostname", "Port", "EscapedPath"])),
                             "format.%s().validate(%s).orValue([]).join(\"|\")" % (r.choice(FORMATS), v("string", d))])
        s = lambda: self.paren(v("string", d))
        if n < 3:
            return "%s + %s" % (s(), s())
        if n < 5:
            return "string(%s)" % v(r.choice(["int", "uint", "double", "bool", "bytes"]), d)
        if n < 6:
            return "%s.%s()" % (s(), r.choice(["lowerAscii", "upperAscii", "trim"]))
        if n < 7:
            return "%s.substring(%s)" % (s(), v("int", 1))
        if n < 8:
            return "%s.substring(%s, %s)" % (s(), v("int", 1), v("int", 1))
        if n < 9:
            return "%s.replace(%s, %s)" % (s(), v("string", 1), v("string", 1))
        if n < 10:
            return "%s.charAt(%s)" % (s(), v("int", 1))
        if n < 11:
            return "%s.join(%s)" % (v("strings", d), v("string", 1))
        if n < 12:
            return "%s.find(%s)" % (s(), r.choice(PATTERNS))
        if n < 13:
            return "strings.quote(%s)" % v("string", d)
        if n < 14:
            return "%s[%s]" % (v("strings", d), v("int", 1))
        return "%s.replace(%s, %s, %s)" % (s(), v("string", 1), v("string", 1), v("int", 1))

    def bytes(self, d):
        return self.pick('b"abc"', "bytes(%s)" % self.value("string", d), 'b"\\377" + b"a"')

    def ints(self, d):
        v, r = self.value, self.r
        if d <= 0:
            return r.choice(["[]", "[1]", "[1, 2, 3]", "[7, 0, -1]", "[2, 2]"])
        n = r.randrange(14)
        if n < 4:
            return "[%s]" % ", ".join(v("int", d - 1) for _ in range(r.randrange(4)))
        if n < 7:
            x = "x%d" % len(self.scope)
            over = self.paren(v("ints", d))
            self.scope.append((x, "int"))
            text = self.pick("%s.map(%s, %s)" % (over, x, v("int", d)), "%s.filter(%s, %s)" % (over, x, v("bool", d)),
                             "%s.map(%s, %s, %s)" % (over, x, v("bool", d), v("int", d)))
            self.scope.pop()
            return text
        if n < 9:
            return "%s + %s" % (self.paren(v("ints", d)), self.paren(v("ints", d)))
        if n < 11:
            return "%s.%s()" % (self.paren(v("ints", d)), r.choice(["reverse", "distinct", "sort"]))
        if n < 12:
            return "%s.slice(%s, %s)" % (self.paren(v("ints", d)), r.randrange(3), r.randrange(4))
        if n < 13:
            i, x = "i%d" % len(self.scope), "x%d" % len(self.scope)
            over = self.paren(v("ints", d))
            self.scope += [(i, "int"), (x, "int")]
            text = "%s.transformList(%s, %s, %s)" % (over, i, x, v("int", d))
            self.scope[-2:] = []
            return text
        return self.pick("[%s, [1]].flatten()" % v("ints", d), "lists.range(%d)" % r.randrange(5),
                         "[?%s]" % v("optional", d), "%s.sortBy(y, -y)" % self.paren(v("ints", d)))

    def strings(self, d):
        v, r = self.value, self.r
        if d <= 0:
            return r.choice(["[]", '["a"]', '["b", "a"]', '["abc", "", "zz"]'])
        return self.pick("[%s]" % ", ".join(v("string", d - 1) for _ in range(r.randrange(4))),
                         "%s.split(%s)" % (self.paren(v("string", d)), v("string", 1)),
                         "%s.split(%s, %s)" % (self.paren(v("string", d)), v("string", 1), r.randrange(-1, 4)),
                         "%s.findAll(%s)" % (self.paren(v("string", d)), r.choice(PATTERNS)),
                         "%s.map(z, z + %s)" % (self.paren(v("strings", d)), v("string", 1)),
                         "%s.reverse()" % self.paren(v("strings", d)))

    def map(self, d):
        return self.pick("{}", '{"a": %s}' % self.value("int", d), '{"a": 1, "b": %s}' % self.value("int", d),
                         '{"%s": 1}.transformMap(k, w, w + %s)' % (self.r.choice("abs"), self.value("int", d)),
                         '{?"o": %s}' % self.value("optional", d))

    def optional(self, d):
        return self.pick("optional.of(%s)" % self.value("int", d), "optional.none()", "{\"a\": 1}[?%s]" % self.value("string", 1),
                         "[1, 2][?%s]" % self.value("int", 1), "optional.ofNonZeroValue(%s)" % self.value("int", d),
                         "{\"a\": %s}.?%s" % (self.value("int", d), self.pick("a", "b")), "%s.first()" % self.value("ints", d),
                         "optional.of(%s).optMap(o, o + 1)" % self.value("int", d),
                         "%s.or(optional.of(%s))" % ("optional.none()", self.value("int", d)))

    def quantity(self, d):
        if d <= 0 or self.r.random() < 0.5:
            if self.r.random() < 0.5:
                return "device.capacity[%s].%s" % (self.r.choice(DOMAINS[:1] * 3 + DOMAINS), self.pick("m", "h", "m", "memory"))
            return "quantity(%s)" % self.r.choice(QUANTITIES)
        return "%s.%s(%s)" % (self.value("quantity", d), self.pick("add", "sub"), self.value(self.pick("quantity", "int"), d))

    def semver(self, d):
        if self.r.random() < 0.4:
            return "device.attributes[%s].v" % self.r.choice(DOMAINS[:1] * 3 + DOMAINS)
        return "semver(%s%s)" % (self.r.choice(VERSIONS), self.pick("", "", ", true"))


def mangled(r, text):
    """A character changed, for syntax errors and odd names."""
    at = r.randrange(len(text))
    return text[:at] + r.choice("()[]{}.,?:&|!<>=+-*/%\"'ab1u \\") + text[at + r.randrange(2):]


def expressions(count, seed):
    r = random.Random(seed)
    out = []
    while len(out) < count:
        text = Maker(r).value("bool", r.randrange(1, 6))
        if r.random() < 0.06:
            text = mangled(r, text)
        if len(text) <= 4000 and "\n" not in text:
            out.append(text)
    return out
