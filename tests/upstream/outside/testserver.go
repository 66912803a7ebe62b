// Package testing stands in the place of upstream's package of that name, which starts kube-scheduler in the
// process of the test: here it is a process of its own, kube-scheduler or berth.
package testing

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	apiserver "k8s.io/apiserver/pkg/server"
	kubeschedulerconfig "k8s.io/kubernetes/cmd/kube-scheduler/app/config"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"

	"berth.test/upstream/pkg/scheduler"
)

const (
	servesWithin = 60 * time.Second
	readyWithin  = 10 * time.Second // which a process that cannot reach its API server never is
)

// TestServer is what a test gets, as far as it looks at it.
type TestServer struct {
	Options    *options.Options
	Config     *kubeschedulerconfig.Config
	TearDownFn func()
}

// StartTestServer starts a process with these flags and waits until it serves.
func StartTestServer(t *testing.T, _ context.Context, flags []string) (TestServer, error) {
	result := TestServer{Options: options.NewOptions()}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return result, err
	}
	_ = listener.Close() // the process listens there; the listener still knows its address
	result.Options.SecureServing.ServerCert.CertDirectory = t.TempDir()
	result.Config = &kubeschedulerconfig.Config{SecureServing: &apiserver.SecureServingInfo{Listener: listener}}
	port := listener.Addr().(*net.TCPAddr).Port
	stop, ended, err := scheduler.Serve(append(flags, fmt.Sprintf("--secure-port=%d", port),
		"--cert-dir="+result.Options.SecureServing.ServerCert.CertDirectory, "--authorization-always-allow-paths=/healthz,/readyz"))
	if err != nil {
		return result, err
	}
	result.TearDownFn = stop
	if !answers(port, "/healthz", servesWithin, ended) {
		stop()
		return result, errors.New("the process does not serve")
	}
	answers(port, "/readyz", readyWithin, ended)
	return result, nil
}

// answers waits until a path is OK, or is not for us.
func answers(port int, path string, within time.Duration, ended <-chan struct{}) bool {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	for deadline := time.Now().Add(within); time.Now().Before(deadline); {
		if answer, err := client.Get(fmt.Sprintf("https://127.0.0.1:%d%s", port, path)); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK || answer.StatusCode == http.StatusForbidden {
				return answer.StatusCode == http.StatusOK
			}
		}
		select {
		case <-ended:
			return false
		case <-time.After(100 * time.Millisecond):
		}
	}
	return false
}
