// certificates: what Go's own clients make of our certificates and doors.
//
//	certificates files KIND FILE...            every certificate in the files is one that Go takes
//	certificates chain CA NAME FILE...         each verifies against CA; NAME "" = as a client's
//	certificates probe URL                     what a kubelet's probe does
//	certificates door URL CA NAME...           GET with full verification, under each name; CA "" = the
//	                                           certificate that the door itself shows
//
// KIND: authority, server or client. One line a finding and exit status 1; "ok N" otherwise.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"
)

const patience = 10 * time.Second

var bad int

func finding(format string, arguments ...any) {
	bad++
	if bad <= 10 {
		fmt.Printf(format+"\n", arguments...)
	}
}

// certificates reads all of a PEM file; what Go cannot parse is a finding.
func certificates(path string) (found []*x509.Certificate) {
	rest, err := os.ReadFile(path)
	if err != nil {
		finding("%v", err)
	}
	for number := 1; ; number++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			finding("%s, certificate %d: %v", path, number, err)
			continue
		}
		found = append(found, certificate)
	}
	if len(bytes.TrimSpace(rest)) != 0 {
		finding("%s: something that is no PEM", path)
	}
	return found
}

// strings looks for kinds of text in names that Go's parser has refused at one time or another.
func oddStrings(raw []byte) string {
	var names []asn1.RawValue
	if rest, err := asn1.Unmarshal(raw, &names); err != nil || len(rest) != 0 {
		return "the name is no sequence"
	}
	for _, name := range names {
		var attribute struct {
			Type  asn1.ObjectIdentifier
			Value asn1.RawValue
		}
		if _, err := asn1.Unmarshal(name.Bytes, &attribute); err != nil {
			return err.Error()
		}
		switch attribute.Value.Tag {
		case asn1.TagUTF8String, asn1.TagPrintableString, asn1.TagIA5String:
		default:
			return fmt.Sprintf("the name has a string of tag %d", attribute.Value.Tag)
		}
	}
	return ""
}

// look holds one certificate to RFC 5280 where Go does, or has at some time.
func look(path, kind string, c *x509.Certificate) {
	wrong := func(text string) { finding("%s, serial %x: %s", path, c.SerialNumber, text) }
	if c.Version != 3 {
		wrong("not version 3")
	}
	if c.SerialNumber.Sign() <= 0 || len(c.SerialNumber.Bytes()) > 20 || c.SerialNumber.BitLen() > 159 {
		wrong("the serial number is not positive, or longer than 20 octets")
	}
	for _, raw := range [][]byte{c.RawSubject, c.RawIssuer} {
		if odd := oddStrings(raw); odd != "" {
			wrong(odd)
		}
	}
	now := time.Now()
	if now.Before(c.NotBefore) || !now.Before(c.NotAfter) || c.NotAfter.Sub(c.NotBefore) > 398*24*time.Hour {
		wrong(fmt.Sprintf("valid from %v to %v", c.NotBefore, c.NotAfter))
	}
	if len(c.UnhandledCriticalExtensions) != 0 {
		wrong("a critical extension that Go does not know")
	}
	if c.SignatureAlgorithm == x509.SHA1WithRSA || c.SignatureAlgorithm == x509.ECDSAWithSHA1 {
		wrong("signed with SHA-1")
	}
	if c.IsCA && (!c.BasicConstraintsValid || c.KeyUsage != 0 && c.KeyUsage&x509.KeyUsageCertSign == 0) {
		wrong("an authority that may not sign")
	}
	if kind == "authority" && !c.IsCA {
		wrong("no authority")
	}
	if kind == "server" && len(c.DNSNames)+len(c.IPAddresses) == 0 {
		wrong("no subjectAltName: Go does not look at the common name")
	}
	purpose := map[string]x509.ExtKeyUsage{"server": x509.ExtKeyUsageServerAuth, "client": x509.ExtKeyUsageClientAuth}
	if want, there := purpose[kind]; there && len(c.ExtKeyUsage) != 0 {
		fits := false
		for _, usage := range c.ExtKeyUsage {
			fits = fits || usage == want || usage == x509.ExtKeyUsageAny
		}
		if !fits {
			wrong("its extended key usage is another")
		}
	}
}

func files(kind string, paths []string) (count int) {
	serials := map[string]bool{}
	for _, path := range paths {
		for _, c := range certificates(path) {
			look(path, kind, c)
			if serials[c.Issuer.String()+c.SerialNumber.String()] {
				finding("%s: a serial number comes twice: %x", path, c.SerialNumber)
			}
			serials[c.Issuer.String()+c.SerialNumber.String()] = true
			count++
		}
	}
	return count
}

func pool(certificates []*x509.Certificate) *x509.CertPool {
	found := x509.NewCertPool()
	for _, c := range certificates {
		found.AddCert(c)
	}
	return found
}

// chain with name "-" takes each for its own authority, and verifies it for localhost.
func chain(authority, name string, paths []string) (count int) {
	for _, path := range paths {
		for _, c := range certificates(path) {
			roots := pool([]*x509.Certificate{c})
			if authority != "" {
				roots = pool(certificates(authority))
			}
			usage := x509.ExtKeyUsageServerAuth
			if name == "" {
				usage = x509.ExtKeyUsageClientAuth
			}
			if _, err := c.Verify(x509.VerifyOptions{DNSName: name, Roots: roots,
				KeyUsages: []x509.ExtKeyUsage{usage}}); err != nil {
				finding("%s for %q: %v", path, name, err)
			}
			count++
		}
	}
	return count
}

// get is one request on a connection of its own, as the kubelet's prober and Prometheus make it.
func get(target string, config *tls.Config) (*tls.ConnectionState, error) {
	transport := &http.Transport{TLSClientConfig: config, DisableKeepAlives: true, ForceAttemptHTTP2: true,
		DialContext: (&net.Dialer{Timeout: patience}).DialContext}
	answer, err := (&http.Client{Transport: transport, Timeout: patience}).Get(target)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", target, answer.Status)
	}
	return answer.TLS, nil
}

// probe is the kubelet's: no name is checked, but the certificate has to be one.
func probe(target string) []*x509.Certificate {
	state, err := get(target, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		finding("a probe of %s: %v", target, err)
		return nil
	}
	for _, c := range state.PeerCertificates[:1] {
		look(target, "server", c)
	}
	return state.PeerCertificates
}

func door(target, authority string, names []string) (count int) {
	shown := probe(target)
	if authority != "" {
		shown = certificates(authority)
	}
	for _, name := range names {
		if _, err := get(target, &tls.Config{RootCAs: pool(shown), ServerName: name}); err != nil {
			finding("%s as %s: %v", target, name, err)
		}
		count++
	}
	if parsed, err := url.Parse(target); err != nil || parsed.Scheme != "https" {
		finding("%s is no door with TLS", target)
	}
	return count
}

func main() {
	arguments, count := os.Args[1:], 0
	switch {
	case len(arguments) >= 3 && arguments[0] == "files":
		count = files(arguments[1], arguments[2:])
	case len(arguments) >= 4 && arguments[0] == "chain":
		count = chain(arguments[1], arguments[2], arguments[3:])
	case len(arguments) == 2 && arguments[0] == "probe":
		count = len(probe(arguments[1]))
	case len(arguments) >= 4 && arguments[0] == "door":
		count = door(arguments[1], arguments[2], arguments[3:])
	default:
		fmt.Fprintln(os.Stderr, "usage: certificates files|chain|probe|door ...")
		os.Exit(2)
	}
	if bad > 0 {
		fmt.Printf("%d findings\n", bad)
		os.Exit(1)
	}
	if count == 0 {
		fmt.Println("nothing was looked at")
		os.Exit(1)
	}
	fmt.Printf("ok %d\n", count)
}
