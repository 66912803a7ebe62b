package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	"github.com/onsi/gomega"

	"k8s.io/kubernetes/test/e2e/framework"
	"k8s.io/kubernetes/test/e2e/framework/config"
	e2enode "k8s.io/kubernetes/test/e2e/framework/node"

	_ "k8s.io/kubernetes/test/e2e/framework/debug/init"
	_ "k8s.io/kubernetes/test/e2e/framework/metrics/init"
	_ "k8s.io/kubernetes/test/e2e/framework/node/init"
	_ "k8s.io/kubernetes/test/e2e/scheduling"
)

// Named like a test function, so that results are read like those of go test.
const test = "TestSigScheduling"

type failure struct{ failed bool }

func (f *failure) Fail() { f.failed = true }

var _ = ginkgo.BeforeSuite(func(ctx ginkgo.SpecContext) {
	client, err := framework.LoadClientset()
	framework.ExpectNoError(err)
	framework.ExpectNoError(e2enode.WaitForReadyNodes(ctx, client, nodeCount, framework.NewTimeoutContext().NodeSchedulable))
	nodes, err := e2enode.GetReadySchedulableNodes(ctx, client)
	framework.ExpectNoError(err)
	framework.TestContext.CloudConfig.NumNodes = len(nodes.Items)
})

var unprintable = regexp.MustCompile(`[^\w.=-]+`)

// The path of a spec as go test would name it: its containers without their tags, then its own words.
func nameOf(report types.SpecReport) string {
	tags := regexp.MustCompile(`\[[^\]]*\]`)
	parts := []string{test}
	for _, text := range append(append([]string{}, report.ContainerHierarchyTexts...), report.LeafNodeText) {
		part := strings.Trim(unprintable.ReplaceAllString(tags.ReplaceAllString(text, ""), "_"), "_")
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "/")
}

const notPlayed = types.SpecStateSkipped | types.SpecStatePending

func begins(report types.SpecReport) {
	if !report.State.Is(notPlayed) {
		fmt.Printf("\n=== RUN   %s\noutside: start of the suite\n", nameOf(report))
	}
}

// Only at the end is known how each ended, and how long it took.
func results(report types.Report) {
	for _, spec := range report.SpecReports {
		if spec.LeafNodeType != types.NodeTypeIt || spec.State.Is(notPlayed) && spec.Failure.Message == "" {
			continue
		}
		word := "FAIL"
		if spec.State.Is(types.SpecStatePassed) {
			word = "PASS"
		} else if spec.State.Is(notPlayed) {
			word = "SKIP"
		}
		fmt.Printf("\n    --- %s: %s (%.2fs)\n", word, nameOf(spec), spec.RunTime.Seconds())
	}
}

func tests() {
	config.CopyFlags(config.Flags, flag.CommandLine)
	framework.RegisterCommonFlags(flag.CommandLine)
	framework.RegisterClusterFlags(flag.CommandLine)
	focus := flag.String("focus", "", "play only tests whose words match this expression")
	flag.Parse()
	framework.AfterReadingAllFlags(&framework.TestContext)
	gomega.RegisterFailHandler(framework.Fail)
	suite, reporter := framework.CreateGinkgoConfig()
	suite.RandomizeAllSpecs = false
	suite.SkipStrings = []string{`\[Flaky\]`} // else also what needs a gate, which the cluster has
	if *focus != "" {
		suite.FocusStrings = []string{*focus}
	}
	// Not before: reading the flags goes through all specs once, to see their names.
	ginkgo.ReportBeforeEach(begins)
	ginkgo.ReportAfterSuite("results", results)
	result := &failure{}
	if !ginkgo.RunSpecs(result, test, suite, reporter) || result.failed {
		os.Exit(1)
	}
}
