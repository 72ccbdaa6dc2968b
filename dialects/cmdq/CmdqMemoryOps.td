//===- CmdqMemoryOps.td - Programs, memory, host segments -----------------===//

#ifndef DIALECTS_CMDQ_CMDQMEMORYOPS_TD
#define DIALECTS_CMDQ_CMDQMEMORYOPS_TD

include "dialects/cmdq/CmdqBase.td"

def Cmdq_ProgramOp : Cmdq_Op<"program", [Symbol, IsolatedFromAbove,
    SingleBlock, NoTerminator]> {
  let summary = "A straight line of commands in program order";
  let description = [{
    Program order is a valid order of execution: a device that runs one command
    at a time may ignore the waits. `cores` is the number of cores whose queues
    are used; `sram_bytes` (per core) and `dram_bytes` are what the memory plan
    needs, absent before planning.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
    DefaultValuedAttr<I32Attr, "1">:$cores,
    OptionalAttr<I64Attr>:$sram_bytes, OptionalAttr<I64Attr>:$dram_bytes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

class Cmdq_MemoryOp<string mnemonic, list<Trait> traits = []>
    : Cmdq_Op<mnemonic, traits> {
  let results = (outs Cmdq_Buffer:$memref);
  let hasVerifier = 1;
}

def Cmdq_AllocOp : Cmdq_MemoryOp<"alloc",
    [MemoryEffects<[MemAlloc]>]> {
  let summary = "A buffer in DRAM or SRAM without an address yet";
  let description = [{
    Its life runs from the first command that writes it (through any view) to
    the last one that uses it. `core` is the core whose SRAM it is.
  }];
  let arguments = (ins DefaultValuedAttr<I32Attr, "0">:$core);
  let assemblyFormat = "attr-dict `:` type($memref)";
}

def Cmdq_ConstantOp : Cmdq_MemoryOp<"constant", [Pure]> {
  let summary = "Bytes of the blob's weight section";
  let description = [{
    `value` has the memref's elements in row-major order. `offset`, in bytes,
    is its place in the section once that is planned. i1 elements take a byte
    each in the blob.
  }];
  let arguments = (ins ElementsAttr:$value, OptionalAttr<I64Attr>:$offset);
  let assemblyFormat = "attr-dict `:` type($memref)";
}

def Cmdq_IoOp : Cmdq_MemoryOp<"io"> {
  let summary = "A bound input or output of the program";
  let description = [{
    Declares one entry of the program's signature; `index` counts inputs first,
    then outputs. `preprocess` is the JSON description of what has to be done
    to a raw sample before it is bound here.
  }];
  let arguments = (ins I32Attr:$index, StrAttr:$name, UnitAttr:$is_output,
    OptionalAttr<StrAttr>:$preprocess);
  let assemblyFormat = "attr-dict `:` type($memref)";
}

def Cmdq_BufferOp : Cmdq_MemoryOp<"buffer", [Pure]> {
  let summary = "A buffer at a known address";
  let description = [{
    `offset` is in bytes from the start of the space of the result's type; `io`
    is the index of the bound tensor when that is `io`; `core` the core whose
    SRAM it is. The type's own layout has offset 0 and any strides: what one
    `npu::rt::Operand` can say.
  }];
  let arguments = (ins I64Attr:$offset, DefaultValuedAttr<I32Attr, "0">:$io,
    DefaultValuedAttr<I32Attr, "0">:$core);
  let assemblyFormat = "attr-dict `:` type($memref)";
}

def Cmdq_HostCallOp : Cmdq_Op<"host_call", [AttrSizedOperandSegments]> {
  let summary = "A subgraph run by the host between commands";
  let description = [{
    A barrier: all commands before it have completed, none after it has
    started. `outs` and `ins` are dense row-major buffers in DRAM or I/O, the
    rest as in `npu.host_call`.
  }];
  let arguments = (ins
    Arg<Variadic<Cmdq_Buffer>, "", [MemWrite]>:$outs,
    Arg<Variadic<Cmdq_Buffer>, "", [MemRead]>:$ins,
    StrAttr:$model, DictArrayAttr:$nodes);
  let assemblyFormat = [{
    `outs` `(` $outs `:` type($outs) `)` (`ins` `(` $ins^ `:` type($ins) `)`)?
    attr-dict
  }];
}

#endif
