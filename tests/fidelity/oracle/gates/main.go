// gates prints every feature gate that kube-scheduler knows, one a line: name, default, whether it is
// locked to it, stage ("ALPHA", "BETA", "GA" or "DEPRECATED"), and the gates that it depends on.
package main

import (
	"fmt"
	"sort"
	"strings"

	"k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
	_ "k8s.io/kubernetes/cmd/kube-scheduler/app" // registers the gates of logs
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
)

func main() {
	o := options.NewOptions()
	gate := o.ComponentGlobalsRegistry.FeatureGateFor(compatibility.DefaultKubeComponent)
	dependencies := gate.(featuregate.MutableVersionedFeatureGate).Dependencies()
	var lines []string
	for name, spec := range gate.(featuregate.MutableVersionedFeatureGate).GetAll() {
		stage := string(spec.PreRelease)
		if stage == "" {
			stage = "GA"
		}
		var needs []string
		for _, need := range dependencies[name] {
			needs = append(needs, string(need))
		}
		sort.Strings(needs)
		lines = append(lines, fmt.Sprintf("%s %t %t %s %s", name, spec.Default, spec.LockToDefault, stage, strings.Join(needs, ",")))
	}
	sort.Strings(lines)
	fmt.Println(strings.Join(lines, "\n"))
}
