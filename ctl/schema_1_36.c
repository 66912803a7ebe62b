/* schema_1_36: the fields of all kinds as the API server of Kubernetes 1.36 has them. */
#define SCHEMA_FILE "ctl/schema_1_36.def"
#define SCHEMA_NAME schema_1_36
#include "ctl/schema_rows.h"
