// suite: the end-to-end tests [sig-scheduling] of Kubernetes, and what a cluster needs around them, as one
// program: "suite controllers …" is kube-controller-manager, "suite kubelet …" stands in for the nodes' kubelets,
// and "suite tests …" plays the tests.  Nothing of them is ours but the frame.
package main

import (
	"fmt"
	"os"

	"k8s.io/component-base/cli"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: suite controllers|kubelet|tests …")
		os.Exit(2)
	}
	role := os.Args[1]
	os.Args = append(os.Args[:1], os.Args[2:]...)
	switch role {
	case "controllers":
		os.Exit(cli.Run(controllers.NewControllerManagerCommand()))
	case "kubelet":
		kubelet()
	case "tests":
		tests()
	default:
		fmt.Fprintf(os.Stderr, "suite: there is no %q\n", role)
		os.Exit(2)
	}
}
