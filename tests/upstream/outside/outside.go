// Package scheduler, continued: the part that stands in the place of the scheduling loop when upstream's
// own tests are played to a scheduler that is another process. It is laid beside the copy of upstream's
// package pkg/scheduler, whose New keeps its options here and whose Run and Start are these.
//
// What must stay true: the object that a test holds stays whole (its informers fill its cache, so that a
// test may look into it), but it decides nothing unless the test brought plugins of its own, and then a
// line "outside: plugins" says so. Every line for the program that reads the output begins with
// "outside: ".
package scheduler

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/component-base/featuregate"
	configv1 "k8s.io/kube-scheduler/config/v1"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
)

const (
	readyWithin = 60 * time.Second
	endWithin   = 5 * time.Second
	initWithin  = 10 * time.Second
	pollEvery   = 50 * time.Millisecond
	clientRate  = 5000 // requests a second, for whoever is played to
)

// outside is what a Scheduler keeps of how it was made, and the process that runs in its place.
type outside struct {
	options schedulerOptions
	port    int
	runDir  string
	fail    func(text string) // ends the test, which has no more to wait for
	inside  bool              // the loop runs in this process after all
}

var (
	subjects      sync.Mutex // one is started at a time, after those before it whose time is over
	ending        sync.WaitGroup
	subjectNo     atomic.Int32
	firstEmulated = version.MustParse("1.36") // of those that a process is asked to emulate
	newField      = regexp.MustCompile(`(?m)^    podGroupPostFilter:.*\n(?:      .*\n)*`)
	nodeGauge     = regexp.MustCompile(`(?m)^scheduler_cache_size\{type="nodes"\} (\S+)`)
)

// say prints a line for the program that reads the output.
func say(format string, arguments ...any) {
	fmt.Printf("\noutside: "+format+"\n", arguments...)
}

// Run schedules until the context is over, in a process of its own.
func (sched *Scheduler) Run(ctx context.Context) {
	sched.Start(ctx)
	<-ctx.Done()
}

// Start returns when the process is ready, and has it ended when the context is over.
func (sched *Scheduler) Start(ctx context.Context) {
	if names := sched.foreignPlugins(); len(names) > 0 {
		say("plugins %s", strings.Join(names, ","))
		sched.outside.inside = true
		go sched.runInProcess(ctx)
		return
	}
	subjects.Lock()
	defer subjects.Unlock()
	ending.Wait()
	directory, err := os.MkdirTemp(os.Getenv("UPSTREAM_LOGS"), fmt.Sprintf("%02d-", subjectNo.Add(1)))
	if err != nil {
		say("failed %v", err)
		return
	}
	process, err := sched.launch(directory)
	if err != nil {
		say("failed %v", err)
		return
	}
	ended := make(chan struct{})
	go func() {
		_ = process.Wait()
		close(ended)
	}()
	sched.awaitReady(ctx, directory, ended)
	go func() {
		<-ctx.Done()
		ending.Add(1)
		defer ending.Done()
		end(process, ended)
		if sched.outside.runDir != "" {
			_ = os.RemoveAll(sched.outside.runDir)
		}
		_ = sched.Profiles.Close()
	}()
}

func (sched *Scheduler) foreignPlugins() []string {
	var names []string
	for name := range sched.outside.options.frameworkOutOfTreeRegistry {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func (sched *Scheduler) launch(directory string) (*exec.Cmd, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	sched.outside.port = port
	kubeconfig := filepath.Join(directory, "kubeconfig")
	if err := writeKubeconfig(kubeconfig, sched.outside.options.kubeConfig); err != nil {
		return nil, err
	}
	config := filepath.Join(directory, "config.yaml")
	if err := sched.writeConfig(config, kubeconfig); err != nil {
		return nil, err
	}
	flags := []string{"--config=" + config, fmt.Sprintf("--secure-port=%d", port), "--bind-address=127.0.0.1",
		"--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics", "-v=4"}
	if played := playedVersion(); played.LessThan(binaryVersion()) {
		flags = append(flags, fmt.Sprintf("--emulated-version=%d.%d", played.Major(), played.Minor()))
	}
	if longest := sched.outside.options.podMaxInUnschedulablePodsDuration; longest != internalqueue.DefaultPodMaxInUnschedulablePodsDuration {
		flags = append(flags, "--pod-max-in-unschedulable-pods-duration="+longest.String())
	}
	process, runDir, err := spawn(directory, flags)
	sched.outside.runDir = runDir
	return process, err
}

// Serve starts a process with these flags and the test's gates, for a test that looks at what it serves: how to
// end it, and what is closed when it has ended.
func Serve(flags []string) (stop func(), ended <-chan struct{}, err error) {
	subjects.Lock()
	defer subjects.Unlock()
	directory, err := os.MkdirTemp(os.Getenv("UPSTREAM_LOGS"), fmt.Sprintf("%02d-", subjectNo.Add(1)))
	if err != nil {
		return nil, nil, err
	}
	process, runDir, err := spawn(directory, flags)
	if err != nil {
		return nil, nil, err
	}
	over := make(chan struct{})
	go func() {
		_ = process.Wait()
		close(over)
	}()
	return func() {
		end(process, over)
		_ = os.RemoveAll(runDir)
	}, over, nil
}

// spawn starts the subject with flags and the test's gates: the process, and a directory to be removed after it.
func spawn(directory string, flags []string) (*exec.Cmd, string, error) {
	log, err := os.Create(filepath.Join(directory, "log"))
	if err != nil {
		return nil, "", err
	}
	defer log.Close()
	runDir, err := os.MkdirTemp("", "u-") // berth's sockets lie in it, whose paths are short
	if err != nil {
		return nil, "", err
	}
	arguments := append(strings.Fields(os.Getenv("UPSTREAM_COMMAND")), flags...)
	if gates := changedGates(); len(gates) > 0 {
		arguments = append(arguments, "--feature-gates="+strings.Join(gates, ","))
	}
	if os.Getenv("UPSTREAM_SUBJECT") == "berth" {
		arguments = append(arguments, "--run-dir="+runDir)
	}
	fmt.Fprintln(log, strings.Join(arguments, " "))
	process := exec.Command(arguments[0], arguments[1:]...)
	process.Stdout, process.Stderr = log, log
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	say("start %s", filepath.Base(directory))
	return process, runDir, process.Start()
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

func writeKubeconfig(path string, rest *restclient.Config) error {
	authority := rest.CAData
	if len(authority) == 0 && rest.CAFile != "" {
		data, err := os.ReadFile(rest.CAFile)
		if err != nil {
			return err
		}
		authority = data
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: rest.Host, CertificateAuthorityData: authority,
		TLSServerName: rest.ServerName, InsecureSkipTLSVerify: rest.Insecure}
	config.AuthInfos["test"] = &clientcmdapi.AuthInfo{Token: rest.BearerToken, Username: rest.Username,
		Password: rest.Password, ClientCertificateData: rest.CertData, ClientKeyData: rest.KeyData}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	config.CurrentContext = "test"
	return clientcmd.WriteToFile(*config, path)
}

// writeConfig writes what the test gave as options as a configuration file. A backoff of 0, which a file
// may not have, becomes 1 s, and what an older release that is played does not know is left out.
func (sched *Scheduler) writeConfig(path, kubeconfig string) error {
	options := &sched.outside.options
	var versioned configv1.KubeSchedulerConfiguration
	scheme.Scheme.Default(&versioned)
	config := schedulerapi.KubeSchedulerConfiguration{}
	if err := scheme.Scheme.Convert(&versioned, &config, nil); err != nil {
		return err
	}
	config.Profiles = options.profiles
	config.Extenders = options.extenders
	config.Parallelism = options.parallelism
	config.PercentageOfNodesToScore = &options.percentageOfNodesToScore
	config.PodInitialBackoffSeconds = max(1, options.podInitialBackoffSeconds)
	config.PodMaxBackoffSeconds = max(config.PodInitialBackoffSeconds, options.podMaxBackoffSeconds)
	config.LeaderElection.LeaderElect = false
	config.ClientConnection.Kubeconfig = kubeconfig
	config.ClientConnection.QPS = clientRate
	config.ClientConnection.Burst = clientRate
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeYAML)
	var buffer bytes.Buffer
	encoder := scheme.Codecs.EncoderForVersion(info.Serializer, configv1.SchemeGroupVersion)
	if err := encoder.Encode(&config, &buffer); err != nil {
		return err
	}
	text := buffer.Bytes()
	if playedVersion().LessThan(binaryVersion()) {
		text = newField.ReplaceAll(text, nil)
	}
	return os.WriteFile(path, text, 0o600)
}

// changedGates is Name=value of every gate that the test has changed, but for those that a process of the
// release that is played is not given: gates locked by then, when the test emulates an older one.
func changedGates() []string {
	gates := utilfeature.DefaultMutableFeatureGate
	played := playedVersion()
	if emulated := gates.EmulationVersion(); !emulated.EqualTo(binaryVersion()) {
		say("emulates %s", emulated)
	}
	versioned, left := gates.GetAllVersioned(), map[string]bool{}
	for _, name := range strings.Split(os.Getenv("UPSTREAM_WITHOUT"), ",") {
		left[name] = true
	}
	var changed []string
	for name, spec := range gates.GetAll() {
		if strings.HasPrefix(string(name), "All") || left[string(name)] || gates.Enabled(name) == spec.Default {
			continue
		}
		if now := specAt(versioned[name], played); now == nil || now.LockToDefault {
			say("gate %s=%t cannot be given", name, gates.Enabled(name))
			continue
		}
		changed = append(changed, fmt.Sprintf("%s=%t", name, gates.Enabled(name)))
	}
	sort.Strings(changed)
	return changed
}

// playedVersion is the release that the process is asked to be: the test's, unless it is too old to be asked for.
func playedVersion() *version.Version {
	if emulated := utilfeature.DefaultMutableFeatureGate.EmulationVersion(); emulated.AtLeast(firstEmulated) {
		return emulated
	}
	return binaryVersion()
}

func binaryVersion() *version.Version {
	return version.MustParse(os.Getenv("UPSTREAM_RELEASE"))
}

func specAt(specs featuregate.VersionedSpecs, at *version.Version) *featuregate.FeatureSpec {
	var found *featuregate.FeatureSpec
	for i := range specs {
		if specs[i].Version == nil || at.AtLeast(specs[i].Version) {
			found = &specs[i]
		}
	}
	return found
}

// FailWith tells how a test is ended whose subject does not start.
func (sched *Scheduler) FailWith(fail func(text string)) {
	sched.outside.fail = fail
}

func (sched *Scheduler) awaitReady(ctx context.Context, directory string, ended <-chan struct{}) {
	deadline := time.Now().Add(readyWithin)
	for ctx.Err() == nil && time.Now().Before(deadline) {
		if status, _ := sched.ask("/readyz"); status == http.StatusOK {
			return
		}
		select {
		case <-ended:
			sched.refused("refused " + lastWords(directory))
			return
		case <-time.After(pollEvery):
		}
	}
	sched.refused("failed the subject is not ready, see " + directory + "/log")
}

func (sched *Scheduler) refused(text string) {
	say("%s", text)
	if sched.outside.fail != nil {
		sched.outside.fail("the subject: " + text)
	}
}

// lastWords is the last line of what a process said that ended at once.
func lastWords(directory string) string {
	data, _ := os.ReadFile(filepath.Join(directory, "log"))
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return lines[len(lines)-1]
}

var client = &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
	TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}

func (sched *Scheduler) ask(path string) (int, string) {
	answer, err := client.Get(fmt.Sprintf("https://127.0.0.1:%d%s", sched.outside.port, path))
	if err != nil {
		return 0, ""
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(body)
}

// HasNodes tells whether the process has at least so many nodes; true where there is none.
func (sched *Scheduler) HasNodes(count int) bool {
	if sched.outside.port == 0 || sched.outside.inside {
		return true
	}
	_, text := sched.ask("/metrics")
	found := nodeGauge.FindStringSubmatch(text)
	if found == nil {
		return count == 0
	}
	nodes, err := strconv.ParseFloat(found[1], 64)
	return err == nil && int(nodes) >= count
}

// InitBound waits, for as long as that may take, until the pods that a case begins with are bound. The process hears
// of pods, nodes and volumes by watches that are in no order among each other: a pod that the case creates next
// could be tried before a pod of the beginning whose volume is heard of a moment late, and take its place.
func (sched *Scheduler) InitBound(ctx context.Context, namespace string) {
	for until := time.Now().Add(initWithin); time.Now().Before(until); time.Sleep(pollEvery) {
		pods, err := sched.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err == nil && !slices.ContainsFunc(pods.Items, func(pod v1.Pod) bool { return pod.Spec.NodeName == "" }) {
			return
		}
	}
}

// PendingSoon is what the queue of this process holds, as soon as it is nothing: it hears by a watch of its own of
// what the test has seen already.
func (sched *Scheduler) PendingSoon() (pods []*v1.Pod, summary string) {
	for until := time.Now().Add(endWithin); ; time.Sleep(pollEvery) {
		pods, summary = sched.SchedulingQueue.PendingPods()
		if len(pods) == 0 || time.Now().After(until) {
			return pods, summary
		}
	}
}

func end(process *exec.Cmd, ended <-chan struct{}) {
	_ = process.Process.Signal(syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(endWithin):
		_ = syscall.Kill(-process.Process.Pid, syscall.SIGKILL)
		<-ended
	}
}
