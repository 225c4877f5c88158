.class final Ldev/pteron/Native;
.super Ljava/lang/Object;
.method static constructor <clinit>()V
  .registers 1
  const-string v0, "pteron_jni"
  invoke-static {v0}, Ljava/lang/System;->loadLibrary(Ljava/lang/String;)V
  return-void
.end method
