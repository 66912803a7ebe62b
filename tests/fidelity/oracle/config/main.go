// config asks kube-scheduler's own code about configuration files: what its loading, defaulting and
// validation, the construction of the scheduler and --write-config-to make of each.
//
// One JSON object a line on standard input, {"name": …, "text": the file}; one a line on standard
// output:
//
//	{"name": …, "stage": "ok" | "decode" | "validate" | "construct",
//	 "errors": [texts], "yaml": what --write-config-to writes}
//
// Errors that the API machinery joins into one text, "[a, b]", come apart here, since some of them
// are collected by walking a Go map and so in no particular order.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes/fake"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	configv1 "k8s.io/kubernetes/pkg/scheduler/apis/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	"k8s.io/kubernetes/pkg/scheduler/profile"

	"berth.test/oracle/release"
)

type question struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

type answer struct {
	Name   string   `json:"name"`
	Stage  string   `json:"stage"`
	Errors []string `json:"errors,omitempty"`
	YAML   string   `json:"yaml,omitempty"`
}

// apart is what an error says, each of several by itself.
func apart(err error) []string {
	all, several := err.(utilerrors.Aggregate)
	if !several {
		return []string{err.Error()}
	}
	var texts []string
	for _, one := range all.Errors() {
		texts = append(texts, apart(one)...)
	}
	return texts
}

// load is what --config does with the file.
func load(text, path string) (*config.KubeSchedulerConfiguration, error) {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return options.LoadConfigFromFile(klog.Background(), path)
}

// construct makes a scheduler of it, which nobody runs, and gives its profiles as they came out.
func construct(c *config.KubeSchedulerConfiguration) ([]config.KubeSchedulerProfile, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	completed := []config.KubeSchedulerProfile{}
	client := fake.NewClientset()
	recorder := profile.RecorderFactory(func(string) events.EventRecorderLogger { return &events.FakeRecorder{} })
	_, err := scheduler.New(ctx, client, release.Informers(client), nil, recorder,
		scheduler.WithComponentConfigVersion(c.TypeMeta.APIVersion),
		scheduler.WithKubeConfig(&restclient.Config{}),
		scheduler.WithProfiles(c.Profiles...),
		scheduler.WithPercentageOfNodesToScore(c.PercentageOfNodesToScore),
		scheduler.WithPodMaxBackoffSeconds(c.PodMaxBackoffSeconds),
		scheduler.WithPodInitialBackoffSeconds(c.PodInitialBackoffSeconds),
		scheduler.WithExtenders(c.Extenders...),
		scheduler.WithParallelism(c.Parallelism),
		scheduler.WithBuildFrameworkCapturer(func(p config.KubeSchedulerProfile) { completed = append(completed, p) }))
	return completed, err
}

// written is the file that --write-config-to makes.
func written(c *config.KubeSchedulerConfiguration) (string, error) {
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeYAML)
	var text bytes.Buffer
	if err := scheme.Codecs.EncoderForVersion(info.Serializer, configv1.SchemeGroupVersion).Encode(c, &text); err != nil {
		return "", err
	}
	return text.String(), nil
}

func ask(q question, path string) answer {
	a := answer{Name: q.Name, Stage: "decode"}
	c, err := load(q.Text, path)
	if err == nil {
		a.Stage = "validate"
		if wrong := validation.ValidateKubeSchedulerConfiguration(c); wrong != nil {
			err = wrong
		}
	}
	if err == nil {
		a.Stage = "construct"
		c.Profiles, err = construct(c)
	}
	if err == nil {
		a.Stage = "ok"
		a.YAML, err = written(c)
	}
	if err != nil {
		a.Errors = apart(err)
	}
	return a
}

func main() {
	gates := flag.String("feature-gates", "", "as kube-scheduler's")
	flag.Parse()
	klog.SetLogger(klog.Logger{})
	if *gates != "" {
		if err := utilfeature.DefaultMutableFeatureGate.Set(*gates); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	file, err := os.CreateTemp("", "config-*.yaml")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	defer os.Remove(file.Name())
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var q question
			if wrong := json.Unmarshal(line, &q); wrong != nil {
				fmt.Fprintln(os.Stderr, wrong)
				os.Exit(2)
			}
			if wrong := out.Encode(ask(q, file.Name())); wrong != nil {
				os.Exit(2)
			}
		}
		if err != nil {
			return
		}
	}
}
