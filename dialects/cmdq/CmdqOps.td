//===- CmdqOps.td - All operators of the cmdq dialect ---------------------===//

#ifndef DIALECTS_CMDQ_CMDQOPS_TD
#define DIALECTS_CMDQ_CMDQOPS_TD

include "dialects/cmdq/CmdqCommandOps.td"
include "dialects/cmdq/CmdqMemoryOps.td"

#endif
